import { LINK_STATES } from "#drizzle/schema/github.ts";
import { type Page, readDecimal } from "#shared/admin/fields.ts";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import { isOver, parseDecimal } from "#shared/decimal.ts";
import { keysOf } from "#shared/keys-of.ts";
import { refuse } from "../errors.ts";
import { recordScope } from "../identity/scope.ts";
import type { Viewer } from "../identity/viewer.ts";
import { csvLine, textCell } from "../reports/csv.ts";
import { pullRequestScope, pullRequestShares } from "../stores/pull-request-rights.ts";
import {
  listPullRequests,
  PULL_REQUEST_FILTERS,
  type PullRequestCursor,
  type PullRequestId,
  type PullRequestQuery,
  type PullRequestRow,
} from "../stores/pull-requests.ts";
import { teamsWithin } from "../stores/teams.ts";
import { type AdminDeps, readDatabase } from "./deps.ts";
import { pageFrom, readListQuery, readWindow, requireKnown } from "./list.ts";
import { pullRequestView } from "./pull-request-page.ts";

export const EQUAL = keysOf(PULL_REQUEST_FILTERS);
const STATES = ["open", "closed", "merged"] as const;

export type ListedPulls = Omit<PullRequestQuery, "scope" | "within" | "ofTeam"> & {
  /** Exact decimal; null: any cost, and none. */
  minCost: string | null;
  team: string | null;
  format: "json" | "csv";
};

/** @throws GatewayError invalid_request */
export function readPullsQuery(request: Request): ListedPulls {
  const names = [...EQUAL, "number", "from", "to", "team", "min_cost", "format"] as const;
  const { limit, after, given } = readListQuery(request, names);
  requireKnown(given, { link: LINK_STATES, state: STATES, format: ["json", "csv"] });
  const { number, from, to, team = null, min_cost: cost, format, ...equal } = given;
  const minCost = cost === undefined ? null : readDecimal(cost);
  if (cost !== undefined && minCost === null) refuse("min_cost: Expected an amount in USD, such as 2.50.");
  return {
    limit,
    after: after === null ? null : readCursor(after),
    equal,
    number: number === undefined ? null : numberOf(number),
    ...readWindow(from, to),
    team,
    minCost,
    format: format === "csv" ? "csv" : "json",
  };
}

/** Largest value of a Postgres `integer`. */
const NUMBER_MAX = 2_147_483_647;

/** `<repository id>-<number>`; null: no pull request has such an id. */
export function readPullId(text: string): PullRequestId | null {
  const [, repositoryId, number] = /^(\d{1,15})-(\d{1,10})$/.exec(text) ?? [];
  if (!repositoryId || Number(number) > NUMBER_MAX) return null;
  return { repositoryId: Number(repositoryId), number: Number(number) };
}

const cursorOf = ({ at, repositoryId, number }: PullRequestRow): string =>
  `${Date.parse(at)}-${repositoryId}-${number}`;

function readCursor(text: string): PullRequestCursor {
  const [, atMs, rest = ""] = /^(\d{1,15})-(.+)$/.exec(text) ?? [];
  const id = readPullId(rest);
  if (id && Number(atMs) < 8.64e15) return { ...id, at: new Date(Number(atMs)).toISOString() };
  refuse("after: Expected the `next` of the previous page.");
}

function numberOf(text: string): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= NUMBER_MAX) return Number(text);
  refuse("number: Expected the number of a pull request.");
}

/** Rows whose cost is added up at once, and rows that one search reads: a filter by cost reads more than it gives. */
const BATCH = 500;
const READ_MAX = 10_000;

type Found = { row: PullRequestRow; view: PullRequestView };

/** The page that a query asks for. One that read as many rows as it may ends with what it found. */
export async function pullRequestsPage(
  deps: AdminDeps,
  viewer: Viewer,
  query: ListedPulls,
): Promise<Page<PullRequestView>> {
  const { limit } = query;
  const { found, last } = await findPulls(deps, viewer, query);
  const page = pageFrom(found, limit, { view: ({ view }) => view, cursor: ({ row }) => cursorOf(row) });
  return page.has_more || last === null ? page : { ...page, has_more: true, next: cursorOf(last) };
}

/** `last`: where the search stopped, if there may be more. */
async function findPulls(deps: AdminDeps, viewer: Viewer, query: ListedPulls) {
  const { limit, minCost, team, equal } = query;
  const scope = await readDatabase(deps, (db) => pullRequestScope(db, recordScope(viewer)));
  const ofTeam = team === null ? null : await readDatabase(deps, (db) => pullRequestScope(db, { team }));
  const batch = Math.min(BATCH, limit + 1);
  const { team: own } = viewer;
  const seen = own === null ? [] : await readDatabase(deps, (db) => teamsWithin(db, own));
  const hides = equal.author !== undefined || (team !== null && !seen.includes(team));
  const isWanted = ({ whole, session_cost_usd: cost }: PullRequestView) =>
    // A filter does not reveal what a row hides.
    (whole || !hides) &&
    (minCost === null || (cost !== null && !isOver(parseDecimal(minCost), parseDecimal(cost))));
  const found: Found[] = [];
  let after = query.after;
  let end: PullRequestRow | null = null;
  for (let read = 0; read < READ_MAX; read += batch) {
    const slice = { ...query, within: viewer.repository, scope, ofTeam, after, limit: batch };
    const rows = await readDatabase(deps, (db) => listPullRequests(db, slice));
    const shareOf = await readDatabase(deps, (db) => pullRequestShares(db, scope, rows));
    const views = rows.map((row) => ({ row, view: pullRequestView(row, shareOf(row), deps.clock.now()) }));
    found.push(...views.filter(({ view }) => isWanted(view)));
    const last = rows.at(-1);
    if (!last || rows.length < batch || found.length > limit) return { found, last: null };
    end = last;
    after = last;
  }
  return { found, last: end };
}

const COLUMNS = [
  ...["repository", "number", "state", "author", "opened_at", "merged_at", "link", "session"],
  ...["session_requests", "session_cost_usd", "session_cost_is_lower_bound", "settled"],
] as const satisfies readonly (keyof PullRequestView)[];

/** The same as CSV, as many as one search reads. Unknown is an empty cell. */
export async function pullRequestsCsv(deps: AdminDeps, viewer: Viewer, query: ListedPulls) {
  const { found } = await findPulls(deps, viewer, { ...query, limit: READ_MAX });
  const lines = found.map(({ view }) => COLUMNS.map((name) => textCell(String(view[name] ?? ""))));
  return new Response([[...COLUMNS], ...lines].map(csvLine).join(""), {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="pull-requests-${deps.clock.now().toISOString().slice(0, 10)}.csv"`,
    },
  });
}
