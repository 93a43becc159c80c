import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Spec } from "#shared/report.ts";
import { openRow, settledRow } from "#test/support/recorder-kit.ts";
import { type Ledger, ledger } from "./ledger.ts";

// A session of several days has a row for each, and the day that is summed up last tells of it (gateway/reports/rollup/several.ts).

const NOW = new Date("2026-11-21T12:34:56Z");
const DAYS = ["2026-11-03", "2026-11-04", "2026-11-05"];

const spec = (from: string, to: string): Spec => ({
  source: "requests",
  dimensions: ["client", "model"],
  measures: ["sessions", "active_hours", "requests"],
  filters: {},
  range: { from, to },
  compare: "none",
  view: "table",
});

let it: Ledger;
beforeAll(async () => {
  it = await ledger();
});
afterAll(async () => await it.close());

const ORDERS = [
  [0, 1, 2],
  [2, 1, 0],
  [1, 2, 0, 1],
  [2, 0, 1, 2, 0],
].map((order): [string, number[]] => [order.join(", "), order]);

test.each(ORDERS)(
  "a session counts once where its days were summed up in the order %s",
  async (client, order) => {
    for (const [turn, day] of order.entries()) {
      const at = (hour: number) => `${DAYS[day]}T${hour}:1${turn}:00.000Z`;
      const call = (hour: number, session: string) =>
        settledRow(openRow({ startedAt: at(hour), session, client }), { model: `m${hour % 2}` });
      const alone = `${client} on ${day} alone`;
      await it.write([call(10, client), call(13, client), call(13, alone)]);
      await it.rollups.catchUp(NOW);
    }
    for (const [i, from] of DAYS.entries()) {
      for (const to of [...DAYS.slice(i + 1), "2026-11-06"]) {
        const asked = spec(from, to);
        const [rolled, single] = [await it.rolled.run(asked, NOW), await it.single.run(asked, NOW)];
        expect(rolled).toEqual(single);
        const own = single.rows.filter(({ groups }) => groups[0]?.startsWith(client));
        expect(own.length).toBeGreaterThan(0);
      }
    }
  },
);
