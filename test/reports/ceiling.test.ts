import { expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import type { Spec } from "#shared/report.ts";
import { atEnd } from "#test/support/at-end.ts";
import { openRow, settledRow } from "#test/support/recorder-kit.ts";
import { reportEngines } from "#test/support/report-engines.ts";
import { ledger } from "../rollups/ledger.ts";

const NOW = new Date("2026-11-21T12:00:00Z");
const AT = "2026-11-15T10:00:00.000Z";
const SPEC: Spec = {
  source: "requests",
  dimensions: ["model"],
  measures: ["cost_usd"],
  filters: {},
  range: "30d",
  compare: "previous_period",
  view: "table",
};

test("a report that holds batches at interactive prices says that it costs at most this", async () => {
  const it = await ledger();
  atEnd(it.close);
  const batch = settledRow(openRow({ startedAt: AT, channel: "batch", model: "m" }), { costUsd: "2" });
  await it.write([batch, settledRow(openRow({ startedAt: AT, model: "n" }), { costUsd: "1" })]);
  await it.rollups.catchUp(NOW);
  const engines = await reportEngines(it.database.url);
  await engines.wrote("default");
  const own = engines.runner();
  const ceilings = async (over: Partial<Spec> = {}) =>
    Promise.all(
      [it.single, it.rolled, own].map(async (runner) => {
        const [result] = await runner.runAll([{ spec: { ...SPEC, ...over } }], NOW);
        return result?.ceiling;
      }),
    );
  const all = (value: boolean) => [value, value, value];
  expect(await ceilings()).toEqual(all(false));
  await it.sql`
    insert into batches (id, kind, key_id, provider, endpoint, completion_window, status, facts, created_at, record_id,
      started_at, routes, models, client, tags, reconciled_at, cost_usd, cost_basis, next_check_at)
    values ('batch_1', 'lines', ${newId()}, 'openai', '/v1/chat/completions', '24h', 'completed', '{}', ${AT}, ${batch.id},
      ${AT}, '{}', '{}', 'curl', '{}', ${AT}, '2', 'interactive', ${AT})`;
  expect(await ceilings()).toEqual(all(true));
  expect(await ceilings({ dimensions: [] })).toEqual(all(true));
  expect(await ceilings({ filters: { model: ["m"] } })).toEqual(all(true));
  // Not where it is left out, where it is not in the window, nor of anything else than money.
  expect(await ceilings({ filters: { model: ["n"] } })).toEqual(all(false));
  expect(await ceilings({ filters: { channel: ["api"] } })).toEqual(all(false));
  expect(await ceilings({ range: "7d" })).toEqual(all(true));
  expect(await ceilings({ range: { from: "2026-11-16", to: null } })).toEqual(all(false));
  expect(await ceilings({ measures: ["requests"] })).toEqual(all(false));
  await it.sql`update batches set cost_basis = 'batch'`;
  expect(await ceilings()).toEqual(all(false));
});
