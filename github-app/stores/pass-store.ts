import { sql } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { githubPasses } from "#drizzle/schema/github-app.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { RepositoryAccess } from "../facts/listed-facts.ts";

/** How far a repository has been read (see the table). */
export type Pass = Omit<typeof githubPasses.$inferSelect, "orgId">;
export type DuePass = { pass: Pass; repository: RepositoryAccess };

/** Creates due passes for repositories that have none; `stopAt` bounds the first one. @returns how many. */
export async function createPasses(
  { sql }: Database,
  { id, repositoryIds }: { id: number; repositoryIds: readonly number[] },
  { now, stopAt }: { now: Date; stopAt: Date | null },
): Promise<number> {
  const written = await sql`
    insert into github_passes (org_id, repository_id, installation_id, due_at, stop_at)
    select ${DEFAULT_ORG}, repository_id::bigint, ${id}::bigint, ${now.toISOString()}::timestamptz,
      ${stopAt?.toISOString() ?? null}::timestamptz
    from jsonb_array_elements_text(${sql.json(repositoryIds)}::jsonb) as r(repository_id)
    on conflict (org_id, repository_id) do update set installation_id = excluded.installation_id
      where github_passes.installation_id <> excluded.installation_id
    returning (xmax = 0) as created`;
  return written.filter((row) => row["created"]).length;
}

/** The next due pass of a covered repository: pull requests before reviews, because costs depend on them. */
export async function nextPass({ db }: Database, now: Date): Promise<DuePass | null> {
  const [row] = await db.execute<{ repository_id: string; full_name: string; installation_id: string }>(sql`
    select p.repository_id, r.full_name, r.installation_id
    from github_passes p
    join repositories r on r.org_id = p.org_id and r.id = p.repository_id and r.covered
    join installations i on i.org_id = r.org_id and i.id = r.installation_id and i.state = 'active'
    where p.org_id = ${DEFAULT_ORG} and p.due_at <= ${now.toISOString()}::timestamptz
    order by p.phase = 'reviews', p.due_at, p.repository_id
    limit 1`);
  if (!row) return null;
  const id = Number(row.repository_id);
  const [pass] = await db.select().from(githubPasses).where(isPass(id));
  const repository = { id, fullName: row.full_name, installationId: Number(row.installation_id) };
  return pass ? { pass, repository } : null;
}

const isPass = (repositoryId: number) => ours(githubPasses, { repositoryId });

export async function savePass(tx: Transaction | Database["db"], pass: Pass): Promise<void> {
  await tx.update(githubPasses).set(pass).where(isPass(pass.repositoryId));
}

/** Postpones the due passes of an installation, whose calls GitHub counts together. */
export async function postponePasses({ sql }: Database, installationId: number, until: Date): Promise<void> {
  await sql`
    update github_passes set due_at = ${until.toISOString()}::timestamptz, failure = 'rate_limited'
    where org_id = ${DEFAULT_ORG} and installation_id = ${installationId}::bigint
      and due_at < ${until.toISOString()}::timestamptz`;
}
