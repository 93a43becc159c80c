import { desc, ilike, isNotNull, type SQL, sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { joinedOn, ours } from "#drizzle/ours.ts";
import { pullRequests, repositories } from "#drizzle/schema/github.ts";
import type { FoundNames } from "#shared/admin/search.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { EVERYTHING } from "../reports/rollup/kinds.ts";
import { type PullRequestScope, takesPart } from "./pull-request-rights.ts";

type Item = FoundNames["data"][number];

/** How many of each kind. */
const EACH_MAX = 8;

/** Anything that contains the text, whatever its case. */
const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;

/**
 * What is searched beside pull requests. `isAdmin`: keys and routes, too. `teams`: only these and their people, and the
 * models of the first one's records; null: all.
 */
export type SearchScope = { isAdmin: boolean; teams: readonly string[] | null };

type Part = { kind: Item["kind"]; from: SQL; where: SQL; id?: SQL; detail?: SQL; name: SQL };

function* partsOf({ isAdmin, teams }: SearchScope, like: string): Generator<Part> {
  const inTeams = (column: SQL) =>
    teams === null ? sql`true` : sql`${column} = any(${sql.param([...teams])}::text[])`;
  yield {
    kind: "person",
    name: sql`email`,
    id: sql`id::text`,
    detail: sql`name`,
    from: sql`people`,
    where: sql`(email ilike ${like} or name ilike ${like} or github_login ilike ${like}) and ${inTeams(sql`team`)}`,
  };
  const [scope = EVERYTHING] = teams ?? [];
  yield {
    kind: "team",
    name: sql`name`,
    from: sql`teams`,
    where: sql`name ilike ${like} and ${inTeams(sql`name`)}`,
  };
  yield {
    kind: "model",
    name: sql`value`,
    from: sql`rollup_sums`,
    where: sql`kind = 'model' and scope = ${scope} and value ilike ${like} and value <> '(none)'`,
  };
  // Sums follow the records after some minutes.
  yield {
    kind: "model",
    name: sql`model`,
    from: sql`requests`,
    where: sql`started_at > now() - interval '1 hour' and model ilike ${like}
      and ${teams === null ? sql`true` : sql`${scope} = any(teams)`}`,
  };
  if (!isAdmin) return;
  yield { kind: "model", name: sql`model`, from: sql`routes`, where: sql`model ilike ${like}` };
  yield { kind: "route", name: sql`name`, from: sql`routes`, where: sql`name ilike ${like}` };
  yield {
    kind: "key",
    name: sql`name`,
    id: sql`id::text`,
    detail: sql`owner`,
    from: sql`keys`,
    where: sql`(name ilike ${like} or owner ilike ${like}) and revoked_at is null`,
  };
}

/** People, teams, models and, for administrators, routes and keys that match; names that begin with the text first. */
export async function findNamed(db: Database["db"], scope: SearchScope, text: string): Promise<Item[]> {
  const like = containing(text);
  const selects = [...partsOf(scope, like)].map(
    ({ kind, name, id = sql`null::text`, detail = sql`null::text`, from, where }) => sql`
      (select distinct ${kind}::text as kind, ${name} as name, ${id} as id, ${detail} as detail,
        not starts_with(lower(${name}), lower(${text})) as inside, length(${name}) as long
      from ${from} where org_id = ${DEFAULT_ORG} and ${where} order by inside, long, name limit ${EACH_MAX})`,
  );
  const rows = await db.execute<Item>(
    sql`select distinct kind, name, id, detail, inside, long from (${sql.join(selects, sql` union all `)}) as found
      order by inside, long, name`,
  );
  return rows.map(({ kind, name, id, detail }) => ({ kind, name, id, detail }));
}

/** Repositories by a part of their name, and pull requests by a number, or `name#7`, of those that the viewer may see. */
export async function findPulls(db: Database["db"], scope: PullRequestScope, text: string): Promise<Item[]> {
  const [, part = "", number] = /^(.*?)\s*#?(\d{1,9})$/.exec(text) ?? [];
  const visible = (...more: SQL[]) =>
    ours(pullRequests, {}, isNotNull(repositories.fullName), ...takesPart(scope), ...more);
  const isRepository = joinedOn(repositories.id, pullRequests.repositoryId);
  const named = db
    .selectDistinct({ name: repositories.fullName })
    .from(pullRequests)
    .innerJoin(repositories, isRepository)
    .where(visible(ilike(repositories.fullName, containing(text.replace(/\s*#.*$/, "")))))
    .limit(EACH_MAX);
  const isNumber = sql`starts_with(${pullRequests.number}::text, ${number ?? ""})`;
  const numbered = db
    .select({ name: repositories.fullName, number: pullRequests.number })
    .from(pullRequests)
    .innerJoin(repositories, isRepository)
    .where(visible(ilike(repositories.fullName, containing(part)), isNumber))
    .orderBy(sql`length(${pullRequests.number}::text)`, desc(pullRequests.mergedAt))
    .limit(EACH_MAX);
  const of = (kind: Item["kind"], name: string): Item => ({ kind, name, id: null, detail: null });
  return [
    ...(await named).map(({ name }) => of("repository", name)),
    ...(number === undefined ? [] : await numbered).map((row) =>
      of("pull_request", `${row.name}#${row.number}`),
    ),
  ];
}
