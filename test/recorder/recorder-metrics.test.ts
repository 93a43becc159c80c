import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import type { RequestRow } from "#drizzle/schema/records.ts";
import type { Recorder } from "#gateway/recorder/recorder.ts";
import { withMetrics } from "#gateway/recorder/recorder-metrics.ts";

const row = (changes: Partial<RequestRow>): RequestRow => ({
  id: "01a1fe10-9304-701e-ab0d-b9f42aa157fe",
  startedAt: "2026-11-20T12:00:00.000Z",
  surface: "messages",
  channel: "api",
  state: "ok",
  streamed: false,
  attempts: 1,
  route: "coding",
  routeSource: "model",
  keyId: "01a1fe10-9304-701e-ab0d-b9f42aa157ff",
  client: "tool-of-a-client",
  tags: ["tag-of-a-client"],
  usageSource: "provider",
  unpriced: false,
  partial: false,
  ...changes,
});

const damage = { files: 1, recovered: 40, lost: 2 };

function silentRecorder(): Recorder {
  return {
    open: async () => {},
    settle: async () => {},
    openTool: async () => {},
    settleTool: async () => {},
    endSession: async () => {},
    accepting: () => true,
    stats: () => ({ backlog: 3, parked: 1, bytes: 4096, cause: null, oldestMs: 1500, open: 2, damage }),
    flushed: async () => {},
    close: async () => {},
  };
}

test("metrics add up what was settled, and take no label from a client", async () => {
  const registry = new Registry();
  const recorder = withMetrics(silentRecorder(), registry, { bytesMax: 8192 });
  // Before the first call, an alert has a zero to begin with.
  expect(await registry.metrics()).toContain("tallygate_unpriced_calls_total 0");
  await recorder.settle(
    row({ provider: "anthropic", inputTokens: 10, outputTokens: 5, latencyMs: 300, ttftMs: 90 }),
  );
  await recorder.settle(row({ provider: "anthropic", inputTokens: 7, outputTokens: 0, latencyMs: 700 }));
  await recorder.settle(row({ state: "denied", unpriced: true }));
  const text = await registry.metrics();
  expect(text).toContain(
    'tallygate_calls_total{surface="messages",state="ok",channel="api",provider="anthropic"} 2',
  );
  expect(text).toContain(
    'tallygate_calls_total{surface="messages",state="denied",channel="api",provider="none"} 1',
  );
  expect(text).toContain('tallygate_tokens_total{surface="messages",kind="input"} 17');
  expect(text).toContain('tallygate_tokens_total{surface="messages",kind="output"} 5');
  expect(text).toContain("tallygate_unpriced_calls_total 1");
  expect(text).toContain('tallygate_call_seconds_count{surface="messages"} 2');
  expect(text).toContain('tallygate_first_byte_seconds_bucket{le="0.1",surface="messages"} 1');
  expect(text).toContain("tallygate_spool_bytes_max 8192");
  expect(text).toContain("tallygate_spool_records 3");
  expect(text).toContain("tallygate_records_lost_total 2");
  expect(text).toContain("tallygate_records_recovered_total 40");
  expect(text).toContain("tallygate_spool_damaged_files_total 1");
  expect(text).not.toContain("of-a-client");
  // Asked twice, it says the same.
  expect(await registry.metrics()).toBe(text);
});
