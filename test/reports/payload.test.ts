import { expect, test } from "bun:test";
import { payloadOf } from "#gateway/reports/payload.ts";
import type { Spec } from "#shared/report.ts";

const spec = (limit: string): Spec => ({
  source: "requests",
  dimensions: [],
  measures: ["requests"],
  filters: { client: [limit] },
  range: "7d",
  compare: "none",
  view: "table",
});

test("no more reports of a payload are made at once than may, in order, whether they fail or not", async () => {
  const items = ["0", "1", "2", "3"].map((id) => ({ id, title: "", description: "", spec: spec(id) }));
  const began: string[] = [];
  const failures: unknown[] = [];
  let running = 0;
  let most = 0;
  const text = await payloadOf(
    { frame: { range: "7d", compare: "none" }, items },
    {
      atOnce: 2,
      failed: (error) => failures.push(error),
      write: async ({ source, filters }) => {
        const name = filters.client?.[0] ?? source;
        began.push(name);
        most = Math.max(most, ++running);
        await Bun.sleep(1);
        running--;
        if (name === "0" || name === "2") throw new Error(name);
        return JSON.stringify(name);
      },
    },
  );
  expect([most, began]).toEqual([2, ["0", "1", "2", "3", "requests", "agent_metrics"]]);
  expect(failures).toEqual([new Error("0"), new Error("2")]);
  const { reports, subscription, agentEstimate } = JSON.parse(text);
  expect(reports.map(({ id, result }: { id: string; result: unknown }) => [id, result])).toEqual([
    ["0", null],
    ["1", "1"],
    ["2", null],
    ["3", "3"],
  ]);
  expect([subscription, agentEstimate]).toEqual(["requests", "agent_metrics"]);
});
