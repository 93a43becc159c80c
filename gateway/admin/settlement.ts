import type { SessionCost } from "#drizzle/session-cost.ts";
import type { PullRequestPage } from "#shared/admin/pull-requests.ts";
import { keysOf } from "#shared/keys-of.ts";
import type { PullRequestRow } from "../stores/pull-requests.ts";

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
export function settlementOf(
  { link, mergedAt, isClaim }: PullRequestRow,
  cost: SessionCost | null,
  now: Date,
): NonNullable<PullRequestPage["settlement"]> {
  const lastAt = cost?.lastAt ?? null;
  const quietFrom = now.getTime() - QUIET_HOURS * 3_600_000;
  const isRecent = (at: string | null) => at !== null && Date.parse(at) > quietFrom;
  const isCalled = isRecent(lastAt);
  const isStretch = cost?.isOpen === true && isCalled;
  const holds: Record<keyof typeof REASONS, boolean> = {
    not_merged_yet: link === "open",
    open_stretch: isStretch,
    late_calls: link !== "open" && !isStretch && (isCalled || isRecent(mergedAt)),
    lower_bound: isClaim || cost?.isLowerBound === true || (mergedAt !== null && !cost?.requests),
  };
  const reasons = keysOf(REASONS).flatMap((code) => (holds[code] ? [{ code, text: REASONS[code] }] : []));
  return { settled: reasons.length === 0, data_until: lastAt, reasons };
}
