import { expect, test } from "bun:test";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Spec } from "#shared/report.ts";
import { openRow, settledRow } from "#test/support/recorder-kit.ts";
import { ALL } from "#test/support/tiers.ts";
import { ledger } from "./ledger.ts";

// Who is in records that no sums cover is looked up in the sums' sets of persons.

/** Every how many hours reports are asked for: another hour of the day each time. */
const REACHED_EVERY = process.env[ALL] ? 17 : 29;

const hoursFrom = (start: string, hours: number) =>
  Array.from({ length: hours }, (_, i) => new Date(Date.parse(start) + i * 3_600_000));

test.each([
  ["2026-02-26T00:00:00Z", "February of 28 days"],
  ["2026-04-28T00:00:00Z", "April of 30"],
  ["2026-10-29T00:00:00Z", "October of 31"],
])(
  "whoever was active before sums end counts once with who is active after, from %s over the end of %s",
  async (start) => {
    const it = await ledger();
    const hours = hoursFrom(start, 6 * 24);
    await it.write(
      hours.flatMap((at, i) =>
        // Each comes again after another number of hours, some once, some at the other end of a day.
        [i % 7, i % 23, i % 25, i % 49, i].map((person, n) =>
          settledRow(
            openRow({
              startedAt: new Date(at.getTime() + n * 600_000).toISOString(),
              owner: `person-${n}-${person}`,
              route: `r${i % 2}`,
            }),
            { model: `m${(i + n) % 3}`, channel: (i + person) % 3 === 0 ? "subscription" : "api" },
          ),
        ),
      ),
    );
    const end = new Date(Date.parse(start) + 6 * 86_400_000);
    const day = (n: number) => hours[n * 24]?.toISOString() ?? "";
    const spec = (over: Partial<Spec>): Spec => ({
      source: "requests",
      dimensions: ["route"],
      measures: ["users", "cost_per_user", "requests"],
      filters: {},
      range: { from: day(1), to: "2026-12-31T00:00:00Z" },
      compare: "none",
      view: "table",
      ...over,
    });
    const specs = [
      spec({}),
      spec({ dimensions: ["model"], range: { from: day(0), to: "2026-12-31T00:00:00Z" } }),
      spec({ dimensions: ["model", "day"] }),
      spec({ dimensions: ["route", "week"], range: { from: null, to: null } }),
      spec({ dimensions: ["month"], range: { from: day(2), to: "2026-12-31T00:00:00Z" } }),
    ];
    for (const reached of hours.filter((_, i) => i > 24 && i % REACHED_EVERY === 3)) {
      await it.rollups.catchUp(reached);
      for (const one of specs) {
        expect(await it.rolled.run(one, reached)).toEqual(await it.single.run(one, reached));
      }
    }
    const stored = async () => await it.sql`select to_jsonb(s)::text as row from rollup_sums s order by 1`;
    // Some are gone from a day, or come later on it than was said.
    await it.sql`delete from requests where started_at >= ${day(3)} and extract(hour from started_at at time zone 'UTC') < 9`;
    const hour = hours[3 * 24]?.toISOString() ?? "";
    await it.sql`insert into rollup_marks (org_id, hour, id)
      select ${DEFAULT_ORG}, ${hour}::timestamptz + make_interval(hours => n), gen_random_uuid() from generate_series(0, 71) n`;
    await it.rollups.catchUp(end);
    const made = await stored();
    expect(made.length).toBeGreaterThan(100);
    await it.rollups.rebuild(end);
    expect(await stored()).toEqual(made);
    await it.close();
  },
);
