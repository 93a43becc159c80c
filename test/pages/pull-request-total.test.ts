import { expect, test } from "bun:test";
import { totalOf } from "#gateway/pages/pull-requests/pull-request-columns.tsx";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";

const merge = (over: Partial<PullRequestView>): PullRequestView =>
  ({
    id: "1-1",
    state: "merged",
    session: "s",
    session_cost_usd: "0.1",
    session_cost_is_lower_bound: false,
    session_is_split: false,
    ...over,
    // Only these members are read.
  }) as PullRequestView;

test("the total of merges counts a session once, to the last digit, and nothing that is open", () => {
  const rows = [
    merge({}),
    merge({ id: "1-2" }),
    merge({ id: "1-3", session: "t", session_cost_usd: "0.000000000003" }),
    merge({ id: "1-4", session: "u", session_cost_usd: "5", state: "open" }),
  ];
  expect(totalOf(rows)).toEqual({ usd: "0.100000000003", isFloor: false });
});

test("the parts of a session that is split between merges add up", () => {
  const split = { session_is_split: true };
  expect(totalOf([merge(split), merge({ id: "1-2", ...split })])).toEqual({ usd: "0.2", isFloor: false });
});

test("it is a lower bound where the cost of a merge is not known", () => {
  const unknown = merge({ id: "1-2", session: null, session_cost_usd: null });
  expect(totalOf([merge({}), unknown])).toEqual({ usd: "0.1", isFloor: true });
});
