import { sql } from "drizzle-orm";
import type { Database, Runner, Transaction } from "#drizzle/database.ts";
import { presentName } from "#drizzle/repository-name.ts";
import type { GithubAppReport, GithubAppView } from "#shared/admin/github-app.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

export type GithubAppRow = { report: GithubAppReport; running: boolean };

/** The App's last report; null: it never ran. */
export async function readGithubApp(reader: Runner): Promise<GithubAppRow | null> {
  const [row] = await reader.execute<GithubAppRow>(sql`
    select report, seen_at > now() - interval '1 minute' as running
    from github_app_reports where org_id = ${DEFAULT_ORG}`);
  return row ?? null;
}

/** Makes the App report again within seconds. */
export async function askForReport({ db }: Database): Promise<void> {
  await db.execute(sql`
    update github_app_reports set asked_at = now()
    where org_id = ${DEFAULT_ORG} and (asked_at is null or asked_at < now() - interval '5 seconds')`);
}

/** Makes the App change its webhook secret within seconds. */
export async function askForSecret(tx: Transaction): Promise<void> {
  await tx.execute(sql`update github_app_reports set secret_asked_at = now() where org_id = ${DEFAULT_ORG}`);
}

/** Answers to deliveries with a correct signature. */
const VERIFIED = ["ping", "accepted"];

type Arrivals = Pick<GithubAppView, "reached_at" | "refused">;

/** When deliveries last arrived, and when they were last refused. */
export async function readArrivals(reader: Runner): Promise<Arrivals> {
  const rows = await reader.execute<{ answer: string; at: Date }>(sql`
    select answer, answered_at as at from webhook_answers where org_id = ${DEFAULT_ORG} order by answered_at desc`);
  const answers = rows.map(({ answer, at }) => ({ answer, at: new Date(at).toISOString() }));
  return {
    reached_at: answers.find(({ answer }) => VERIFIED.includes(answer))?.at ?? null,
    refused: answers.filter(({ answer }) => !VERIFIED.includes(answer)),
  };
}

type WaitingMerge = GithubAppView["waiting_merges"][number];
type WaitingRow = Omit<WaitingMerge, "repository_id" | "merged_at"> & {
  repository_id: string;
  merged_at: Date;
};

/** What will be joined once `pull_request_stamping` is on; the latest first. */
export async function readWaitingMerges(reader: Runner): Promise<WaitingMerge[]> {
  const rows = await reader.execute<WaitingRow>(sql`
    select w.repository_id, p.full_name as repository, w.number, w.author_login as author, w.session, w.merged_at
    from waiting_merges w
    left join repositories p on p.org_id = w.org_id and p.id = w.repository_id
    where w.org_id = ${DEFAULT_ORG}
    order by w.merged_at desc, w.repository_id, w.number
    limit 100`);
  return rows.map((row) => ({
    ...row,
    repository_id: Number(row.repository_id),
    merged_at: new Date(row.merged_at).toISOString(),
  }));
}

export type Backfill = {
  /** Null: back to the first pull request. */
  since: string | null;
  /** `owner/name`; null: every repository. */
  repository: string | null;
};

/** Makes the GitHub App read repositories again from the latest change back to `since`; answers how many. */
export async function requestBackfill(
  tx: Transaction,
  { since, repository }: Backfill,
  now: Date,
): Promise<number> {
  const rows = await tx.execute(sql`
    update github_passes p set phase = 'idle', page = 1, watermark = null, stop_at = ${since}::timestamptz,
      due_at = ${now.toISOString()}::timestamptz, failure = null
    from repositories r
    where p.org_id = ${DEFAULT_ORG} and r.org_id = p.org_id and r.id = p.repository_id
      and (${repository}::text is null or r.full_name = (
        select ${sql.raw(presentName("g.name", "r.org_id"))} from (select ${repository}::text as name) g))
    returning p.repository_id`);
  return rows.length;
}
