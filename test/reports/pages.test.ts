import { beforeAll, expect, test } from "bun:test";
import { closeSync, readFileSync } from "node:fs";
import type postgres from "postgres";
import { reportRunner } from "#gateway/reporting.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { reportWriter } from "#gateway/stores/reports/report-writer.ts";
import { systemClock } from "#shared/clock.ts";
import type { Result } from "#shared/report.ts";
import { atEnd } from "#test/support/at-end.ts";
import { recordedLog } from "../admin/world.ts";
import { testDatabase, testSql } from "../support/postgres.ts";
import { reportEngines } from "../support/report-engines.ts";

const SESSIONS = 2_345;
const NOW = new Date("2026-11-20T00:00:00Z");
const SPEC = checkSpec({
  ...{ source: "requests", dimensions: ["session", "day"], measures: ["cost_usd", "cost_share", "requests"] },
  ...{
    filters: {},
    range: { from: "2026-11-01", to: "2026-11-10" },
    compare: "previous_period",
    view: "table",
  },
});

let url: string;
let sql: postgres.Sql;
beforeAll(async () => {
  ({ url } = await testDatabase());
  sql = testSql(url);
  await sql`insert into requests (id, started_at, surface, channel, state, streamed, attempts, route, route_source, provider, model,
      key_id, client, tags, usage_source, unpriced, partial, cost_usd, session)
    select gen_random_uuid(), '2026-10-28T12:00:00Z'::timestamptz + (n % 12) * interval '1 day', 'chat.completions', 'api', 'ok', false, 1,
      'r', 'model', 'echo', 'm', '0199d0a0-0000-7000-8000-000000000001', 't', '{}', 'provider', false, false, n * 0.001, 's' || n
    from generate_series(1, ${SESSIONS}) n`;
});

test("every row comes by the page, on both engines, as it does at once", async () => {
  const engines = await reportEngines(url);
  await engines.wrote("default");
  const runner = engines.runner();
  const whole = await runner.run(SPEC, NOW, { allRows: true });
  expect(whole.rows).toHaveLength(SESSIONS);
  const seen: Result[] = [];
  await runner.eachPage(SPEC, NOW, { take: (page) => void seen.push(page) });
  expect(seen).toEqual([whole]);

  const single = reportRunner({ url });
  atEnd(() => single.close());
  const sizes: number[] = [];
  await single.eachPage(SPEC, NOW, { take: ({ rows }) => void sizes.push(rows.length) });
  // The total has come with the first of them.
  expect(sizes).toEqual([999, 1000, SESSIONS - 1999]);
});

test("the file of them is the CSV, has no name, and is closed by who asked for it", async () => {
  const writer = reportWriter({ url, mainUrl: url }, { log: recordedLog(), clock: systemClock });
  atEnd(() => writer.close());
  const text = await writer.write(SPEC, NOW, { format: "csv", allRows: true });
  const fd = await writer.file(SPEC, NOW, { allRows: true });
  expect(readFileSync(`/proc/self/fd/${fd}`, "utf8")).toBe(text);
  closeSync(fd);
  expect(text.split("\r\n")).toHaveLength(SESSIONS + 3);
  const nothing = { ...SPEC, filters: { session: ["nobody"] } };
  const empty = await writer.file(nothing, NOW, { allRows: true });
  expect(readFileSync(`/proc/self/fd/${empty}`, "utf8")).toBe(
    await writer.write(nothing, NOW, { format: "csv" }),
  );
  closeSync(empty);
});
