import { expect, test } from "bun:test";
import { shortId } from "#gateway/pages/parts/short-id.tsx";
import { cumulative, sumsBy } from "#gateway/pages/sessions/session-calls.ts";
import type { RequestView } from "#shared/admin/records.ts";

const call = (over: Partial<RequestView>): RequestView =>
  ({
    id: over.started_at ?? "a",
    started_at: "2026-11-01T00:00:00Z",
    channel: "api",
    model: "opus",
    agent_id: null,
    cost_usd: "0.1",
    unpriced: false,
    partial: false,
    input_tokens: 10,
    output_tokens: 1,
    ...over,
    // Only these members are read.
  }) as RequestView;

const CALLS = [
  call({ started_at: "2026-11-01T00:03:00Z", cost_usd: "0.000000000003", agent_id: "explore" }),
  call({ started_at: "2026-11-01T00:01:00Z", cost_usd: "0.2" }),
  call({ started_at: "2026-11-01T00:02:00Z", cost_usd: "5", channel: "subscription" }),
  call({ started_at: "2026-11-01T00:04:00Z", cost_usd: null, unpriced: true, model: "new" }),
];

test("the cost of a session adds up call by call, to the last digit, without what a subscription paid", () => {
  expect(cumulative(CALLS).map(({ call: { id }, usd, isFloor }) => [id.slice(14, 16), usd, isFloor])).toEqual(
    [
      ["01", "0.2", false],
      ["02", "0.2", false],
      ["03", "0.200000000003", false],
      ["04", "0.200000000003", true],
    ],
  );
});

test("by model and by sub-agent it is the same cost", () => {
  const costs = (nameOf: (call: RequestView) => string) =>
    sumsBy(CALLS, nameOf).map(({ name, usd, isFloor, tokens }) => [name, usd, isFloor, tokens]);
  expect(costs(({ model }) => model ?? "")).toEqual([
    ["opus", "0.200000000003", false, 33],
    ["new", "0", true, 11],
  ]);
  expect(costs(({ agent_id: agent }) => agent ?? "main agent")).toEqual([
    ["explore", "0.000000000003", false, 11],
    ["main agent", "0.2", true, 33],
  ]);
});

test.each([
  ["01a21ecb-4463-7000-8000-00000000000b", "01a21ecb…000b"],
  ["task-1", "task-1"],
  ["feature/checkout-with-a-long-name-1234", "feature/…1234"],
])("%s is shown as %s", (id, shown) => expect(shortId(id)).toBe(shown));
