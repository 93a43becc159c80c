import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSnapshot } from "#gateway/stores/directory/snapshot.ts";
import { createSealer } from "#gateway/stores/seal.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import { keptLog, scratch } from "#test/support/embedded.ts";
import { movableClock } from "./movable-clock.ts";

const place = scratch();
const key = {
  id: "k",
  name: "the-name",
  owner: null,
  scopes: {},
  limits: null,
  expiresAtMs: null,
  teams: null,
  costCenter: null,
  sharedBudgets: [],
};
const ROWS = {
  version: 7,
  keys: [["ab", key]] as [string, typeof key][],
  providers: [],
  routes: [],
  prices: [],
  discounts: [],
  listed: [],
  listFetchedAt: null,
  guardrails: [],
  hookPolicies: [],
  callBudgets: [],
  toolServers: [],
  settings: DEFAULT_SETTINGS,
};
const SPENT = { day: 1n, week: 2n, month: 3n, quarter: 4n };
const SPEND = { atMs: Date.parse("2026-11-24"), byKey: new Map([["k", SPENT]]) };

const at = (name: string, clock = movableClock(), options: { seed?: number; secondsMax?: number } = {}) =>
  openSnapshot({
    file: join(place.path, name),
    sealer: createSealer(new Uint8Array(32).fill(options.seed ?? 1)),
    secondsMax: options.secondsMax ?? 60,
    spend: () => SPEND,
    clock,
    log: keptLog(),
  });

test("what was kept is found at the next start, readable by this user and with this master key alone", async () => {
  const clock = movableClock();
  const file = at("kept", clock);
  expect(file.found).toBe("missing");
  file.keep({ ...ROWS, version: 6 });
  file.keep(ROWS);
  await file.close();
  expect(at("kept", clock).found).toEqual({ takenAtMs: expect.any(Number), rows: ROWS, spend: SPEND });
  expect(at("kept", clock, { seed: 2 }).found).toBe("unreadable");
  expect(readFileSync(join(place.path, "kept"), "utf8")).not.toContain("the-name");
  expect(statSync(join(place.path, "kept")).mode & 0o077).toBe(0);
});

test("an old one, a damaged one and one that is switched off are not used", async () => {
  const clock = movableClock();
  const file = at("old", clock);
  file.keep(ROWS);
  await file.close();
  clock.advance(61_000);
  expect(at("old", clock).found).toBe("too_old");
  expect(at("old", clock, { secondsMax: 0 }).found).toBe("off");
  writeFileSync(join(place.path, "old"), "damaged");
  expect(at("old", clock).found).toBe("unreadable");
});
