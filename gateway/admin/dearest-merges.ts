import { costParts } from "#drizzle/session-cost.ts";
import { type TaskProfile, taskProfiles } from "#drizzle/task-profiles.ts";
import type { DearMergeView } from "#shared/admin/pull-requests.ts";
import { type Exact, formatDecimal, isOver, parseDecimal, plus, product, ZERO } from "#shared/decimal.ts";
import { recordScope } from "../identity/scope.ts";
import type { Viewer } from "../identity/viewer.ts";
import { pullRequestScope, pullRequestShares } from "../stores/pull-request-rights.ts";
import { listPullRequests, type PullRequestRow } from "../stores/pull-requests.ts";
import { type AdminDeps, readDatabase } from "./deps.ts";
import type { ListedPulls } from "./pull-request-list.ts";
import { pullRequestView } from "./pull-request-page.ts";

const SHOWN = 10;
/** Merges of one time that are compared: the latest ones. */
const COMPARED_MAX = 5_000;
/** Merges of a repository whose calls are looked at to know what is usual there. */
const SAMPLE = 100;

const FACTORS = ["calls", "sessions", "subagents", "retries", "context"] as const;

type Merge = PullRequestRow & { session: string; costUsd: string; isSplit: boolean };

/** The dearest merges of changes that a query asks for, with what sets each apart from the usual merge of its repository. */
export async function dearestMerges(
  deps: AdminDeps,
  viewer: Viewer,
  { team, ...query }: ListedPulls,
): Promise<DearMergeView[]> {
  const scope = await readDatabase(deps, (db) => pullRequestScope(db, recordScope(viewer)));
  const ofTeam = team === null ? null : await readDatabase(deps, (db) => pullRequestScope(db, { team }));
  const merged = { ...query, equal: { ...query.equal, state: "merged" }, after: null, limit: COMPARED_MAX };
  const rows = await readDatabase(deps, (db) =>
    listPullRequests(db, { ...merged, within: viewer.repository, scope, ofTeam }),
  );
  const shareOf = await readDatabase(deps, (db) => pullRequestShares(db, scope, rows));
  const merges = rows.flatMap((row): Merge[] => {
    const { whole, cost } = shareOf(row);
    const isCosted =
      row.mergedAt !== null &&
      ["joined", "unknown_session"].includes(row.link) &&
      (row.kind ?? "change") === "change";
    if (!isCosted || !whole || row.session === null || cost === null || cost.requests === 0) return [];
    const { costUsd, isSplit } = cost;
    return costUsd === null ? [] : [{ ...row, session: row.session, costUsd, isSplit }];
  });
  const dearest = merges.toSorted((a, b) => byCost(exact(b), exact(a))).slice(0, SHOWN);
  const byRepository = Map.groupBy(merges, ({ repositoryId }) => repositoryId);
  const compared = [...new Set(dearest.map(({ repositoryId }) => repositoryId))].flatMap(
    (id) => byRepository.get(id)?.slice(0, SAMPLE) ?? [],
  );
  // Of a split session, other calls are other merges' own.
  const whole = [...dearest, ...compared].filter(({ isSplit }) => !isSplit);
  const sessions = [...new Set(whole.map(({ session }) => session))];
  const profiles = await readDatabase(deps, (db) => taskProfiles(db, sessions));
  const models = await readDatabase(deps, (db) =>
    Promise.all(
      dearest.map(async (merge) =>
        merge.isSplit ? (await costParts(db, merge, "UTC")).find(({ kind }) => kind === "model") : undefined,
      ),
    ),
  );
  return dearest.map((merge, i) => {
    const own = profiles.get(merge.session);
    const all = byRepository.get(merge.repositoryId) ?? [];
    const others = all.slice(0, SAMPLE).flatMap(({ session }) => {
      const profile = session === merge.session ? undefined : profiles.get(session);
      return profile ? [profile] : [];
    });
    return {
      ...pullRequestView(merge, shareOf(merge), deps.clock.now()),
      usual_usd: formatDecimal(medianOf(all.map(exact).toSorted(byCost))),
      model: own?.model ?? models[i]?.name ?? null,
      model_cost_usd: own?.modelUsd ?? models[i]?.costUsd ?? null,
      factors: own ? factorsOf(own, others) : [],
    };
  });
}

const factorsOf = ({ factors }: TaskProfile, others: readonly TaskProfile[]) =>
  FACTORS.map((name) => {
    const sorted = others.map((it) => it.factors[name]).toSorted((a, b) => a - b);
    return { name, value: factors[name], usual: sorted[Math.floor((sorted.length - 1) / 2)] ?? null };
  });

const exact = ({ costUsd }: Merge): Exact => parseDecimal(costUsd);
const byCost = (a: Exact, b: Exact): number => (isOver(a, b) ? 1 : isOver(b, a) ? -1 : 0);
const HALF = parseDecimal("0.5");

/** Of costs in order, of which there is one at least. */
function medianOf(costs: readonly Exact[]): Exact {
  const low = costs[Math.ceil(costs.length / 2) - 1] ?? ZERO;
  return product(plus(low, costs[Math.floor(costs.length / 2)] ?? low), HALF);
}
