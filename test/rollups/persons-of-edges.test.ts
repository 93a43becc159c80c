import { expect, test } from "bun:test";
import type { Spec } from "#shared/report.ts";
import { openRow, settledRow } from "#test/support/recorder-kit.ts";
import { ledger } from "./ledger.ts";

const NOW = new Date("2026-11-21T12:34:56Z");

test("persons count who were active in a single hour, wherever a window begins and ends", async () => {
  const it = await ledger();
  const hours = Array.from({ length: 60 }, (_, hour) => new Date(Date.UTC(2026, 10, 3, hour, 17)));
  await it.write(
    hours.map((at, i) =>
      settledRow(openRow({ startedAt: at.toISOString(), owner: `person-${i}`, client: `cli-${i % 2}` }), {
        model: `m${i % 3}`,
        channel: i % 5 === 0 ? "subscription" : "api",
      }),
    ),
  );
  await it.rollups.catchUp(NOW);
  const ends = [
    "03T00:00",
    "03T07:00",
    "03T07:20",
    "04T00:00",
    "04T16:00",
    "05T09:10",
    "05T11:17",
    "06T00:00",
  ];
  const windows = ends.flatMap((from, i) => ends.slice(i + 1).map((to) => [from, to] as const));
  for (const [from, to] of windows) {
    const spec: Spec = {
      source: "requests",
      dimensions: ["client", "model"],
      measures: ["users", "cost_per_user", "requests"],
      filters: {},
      range: { from: `2026-11-${from}:00.000Z`, to: `2026-11-${to}:00.000Z` },
      compare: "previous_period",
      view: "table",
    };
    const single = await it.single.run(spec, NOW);
    expect(await it.rolled.run(spec, NOW)).toEqual(single);
    expect(single.total.current?.users).toBe(single.total.current?.requests ?? null);
  }
  await it.close();
});
