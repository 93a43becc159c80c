import { expect, test } from "bun:test";
import type { Spec } from "#shared/report.ts";
import { openRow, settledRow } from "#test/support/recorder-kit.ts";
import { ledger } from "./ledger.ts";

const NOW = new Date("2026-11-21T12:34:56Z");

test("records of the hour that a window cuts are of its day, though sums end days before, at an hour that changed", async () => {
  const it = await ledger();
  const call = (startedAt: string) => settledRow(openRow({ startedAt }), {});
  await it.write(["2026-11-03", "2026-11-12", "2026-11-20"].map((day) => call(`${day}T10:05:00Z`)));
  await it.rollups.catchUp(NOW);
  await it.write([call("2026-11-12T10:06:00Z")]);
  const asked: Spec = {
    source: "requests",
    dimensions: ["day"],
    measures: ["requests"],
    filters: {},
    range: { from: "2026-11-01", to: "2026-11-20T10:40:00Z" },
    compare: "none",
    view: "table",
  };
  const { rows } = await it.rolled.run(asked, NOW);
  expect(rows.map(({ groups: [day], current }) => [day, current?.requests])).toEqual([
    ["2026-11-03", 1],
    ["2026-11-12", 2],
    ["2026-11-20", 1],
  ]);
  await it.close();
});

test("where sums end within the earlier window, the later one is read beside them, and who is in both counts in each", async () => {
  const it = await ledger();
  const call = (startedAt: string, owner: string) => settledRow(openRow({ startedAt, owner }), {});
  await it.write([
    call("2026-02-10T10:00:00Z", "ann"),
    call("2026-02-12T10:00:00Z", "bob"),
    call("2026-03-05T10:00:00Z", "ann"),
  ]);
  await it.rollups.catchUp(new Date("2026-02-20T05:00:00Z"));
  const asked: Spec = {
    source: "requests",
    dimensions: ["key"],
    measures: ["users"],
    filters: {},
    range: { from: "2026-03-01", to: "2026-03-29" },
    compare: "previous_period",
    view: "table",
  };
  const { total } = await it.rolled.run(asked, new Date("2026-03-31T10:42:33Z"));
  expect([total.previous?.users, total.current?.users]).toEqual([2, 1]);
  await it.close();
});

test("chosen models by day add up to their own total from sums, with the hours that a window cuts", async () => {
  const it = await ledger();
  const call = (startedAt: string, model: string) =>
    settledRow(openRow({ startedAt }), { model, costUsd: "0.250000000001" });
  await it.write(
    ["a", "b", "c"].flatMap((model) => [
      call("2026-11-03T10:05:00Z", model),
      call("2026-11-20T10:05:00Z", model),
      call("2026-11-20T10:45:00Z", model),
    ]),
  );
  await it.rollups.catchUp(NOW);
  const asked: Spec = {
    source: "requests",
    dimensions: ["day", "model"],
    measures: ["cost_usd", "requests"],
    filters: { model: ["a", "c", "no such model"] },
    range: { from: "2026-11-01", to: "2026-11-20T10:40:00Z" },
    compare: "none",
    view: "stacked",
  };
  const { rows, total } = await it.rolled.run(asked, NOW);
  expect(
    rows.map(({ groups: [day, model], current }) => `${day} ${model} ${current?.requests}`).sort(),
  ).toEqual(["2026-11-03 a 1", "2026-11-03 c 1", "2026-11-20 a 1", "2026-11-20 c 1"]);
  expect(total.current?.cost_usd).toBe(1.000000000004);
  expect(await it.single.run(asked, NOW)).toEqual(await it.rolled.run(asked, NOW));
  await it.close();
});
