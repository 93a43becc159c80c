import { pullRequestReach } from "#drizzle/session-cost.ts";
import type { PullRequestPage, PullRequestView } from "#shared/admin/pull-requests.ts";
import { keysOf } from "#shared/keys-of.ts";
import type { PullRequestRow } from "../stores/pull-requests.ts";
import { type AdminDeps, readDatabase } from "./deps.ts";

/** Without calls for this long after its merge, a figure is settled (decision: A quiet day settles a figure). */
const QUIET_HOURS = 24;

/** Why a figure can still change. */
const REASONS = {
  not_merged_yet: "It is not merged yet, and its next calls count.",
  open_stretch: `An agent declared its branch last and made calls in the last ${QUIET_HOURS} hours: its next calls count.`,
  late_calls: `It was merged, or its latest call was made, in the last ${QUIET_HOURS} hours: calls that come late count.`,
  lower_bound: "Its cost is unknown or a lower bound, and changes once what is missing is known.",
} as const;

/** Whether a pull request's figure can still change, why, and until when its data reaches. */
export async function settlementOf(
  deps: AdminDeps,
  row: PullRequestRow,
  { session_cost_is_lower_bound: isLowerBound }: PullRequestView,
): Promise<PullRequestPage["settlement"]> {
  const { lastAt, isOpen } = await readDatabase(deps, (db) => pullRequestReach(db, row));
  const quietFrom = deps.clock.now().getTime() - QUIET_HOURS * 3_600_000;
  const isRecent = (at: string | null) => at !== null && Date.parse(at) > quietFrom;
  const isCalled = isRecent(lastAt);
  const isStretch = isOpen && isCalled;
  const holds: Record<keyof typeof REASONS, boolean> = {
    not_merged_yet: row.link === "open",
    open_stretch: isStretch,
    late_calls: row.link !== "open" && !isStretch && (isCalled || isRecent(row.mergedAt)),
    lower_bound: isLowerBound,
  };
  const reasons = keysOf(REASONS).flatMap((code) => (holds[code] ? [{ code, text: REASONS[code] }] : []));
  return { settled: reasons.length === 0, data_until: lastAt, reasons };
}
