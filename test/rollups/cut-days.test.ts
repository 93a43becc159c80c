import { afterAll, expect, test } from "bun:test";
import type { RequestRow } from "#drizzle/schema/records.ts";
import type { Spec } from "#shared/report.ts";
import { openRow, settledRow } from "#test/support/recorder-kit.ts";
import { ledger } from "./ledger.ts";

const NOW = new Date("2026-11-21T12:34:56Z");

const { sql, rollups, rolled, single, write, close } = await ledger();
afterAll(close);

const call = (startedAt: string, over: Partial<RequestRow>): RequestRow =>
  settledRow(openRow({ startedAt }), over);
const spec = (over: Partial<Spec>): Spec => ({
  source: "requests",
  dimensions: [],
  measures: ["requests"],
  filters: {},
  range: "7d",
  compare: "previous_period",
  view: "table",
  ...over,
});

test("distinct counts are right for a window that ends at any instant of a rolled-up day, whatever came late", async () => {
  const at = (day: number, time: string) => `2026-11-${day}T${time}Z`;
  const by = (owner: string, session: string, model = "m1") => ({ owner, session, model });
  await write([
    call(at(16, "08:00:00"), by("ann", "s1")),
    call(at(17, "09:10:00"), by("ann", "s2")),
    call(at(18, "09:20:00.500"), by("bob", "s3", "m2")),
    call(at(18, "09:20:00.501"), { ...by("eve", "s3"), channel: "subscription" }),
    call(at(18, "09:41:00"), by("ann", "s4")),
    call(at(18, "10:00:00"), by("dan", "s3")),
    call(at(19, "09:20:00"), by("dan", "s5")),
  ]);
  await rollups.catchUp(NOW);
  const ends = ["09:20:00.500", "09:20:00.501", "09:20:00.502", "09:31:00", "09:45:00", "10:00:00.001"];
  const measures: Spec["measures"] = [
    "requests",
    "users",
    "sessions",
    "active_hours",
    "cost_per_user",
    "latency_p95_ms",
  ];
  const asked = [at(18, "00:00:01"), ...ends.map((time) => at(18, time)), at(19, "09:20:01")].flatMap((to) =>
    [["model"], ["subject"], ["tag"], []].map((dimensions) =>
      spec({
        measures,
        dimensions: dimensions as Spec["dimensions"],
        range: { from: "2026-11-17", to },
        compare: "previous_period",
      }),
    ),
  );
  const agree = async () => {
    for (const one of asked) {
      const [result, expected] = [await rolled.run(one, NOW), await single.run(one, NOW)];
      const counted = ({ total, rows }: typeof result) =>
        JSON.stringify([total, rows], (name, value) => (name === "latency_p95_ms" ? undefined : value));
      expect(counted(result)).toEqual(counted(expected));
    }
  };
  const sums = async () =>
    JSON.stringify(await sql`select to_jsonb(s)::text as row from rollup_sums s order by 1`);
  await agree();
  // Of a day before, of the same hour, and of one that was the first of another.
  await write([
    call(at(17, "11:00:00"), by("dan", "s6")),
    call(at(18, "09:05:00"), by("eve", "s3")),
    call(at(17, "12:00:00"), by("bob", "s7", "m2")),
  ]);
  await rollups.catchUp(NOW);
  await agree();
  await sql`delete from requests where owner = 'dan' and started_at < ${at(18, "00:00:00")}`;
  await sql`insert into rollup_marks (org_id, hour, id) values ('default', ${at(17, "11:00:00")}, ${Bun.randomUUIDv7()})`;
  await rollups.catchUp(NOW);
  await agree();
  const made = await sums();
  await rollups.rebuild(NOW);
  expect(await sums()).toEqual(made);
});
