import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import type { ClientKey, Directory } from "#gateway/directory.ts";
import { budgetMetrics } from "#gateway/stores/limits/budget-metrics.ts";
import { systemClock } from "#shared/clock.ts";

const NOW = new Date("2026-11-20T12:00:00Z");
const clock = { ...systemClock, now: () => NOW };

const key = (id: string, changes: Partial<ClientKey> = {}) =>
  ({ id, name: `key ${id}`, limits: null, sharedBudgets: [], expiresAtMs: null, ...changes }) as ClientKey;

type Spent = Record<string, { day: bigint; month: bigint }>;
const whole = (usd: Spent[string]) => ({ ...usd, week: usd.day, quarter: usd.month });

async function shown(keys: ClientKey[], spent: Spent, day = "2026-11-20"): Promise<string> {
  const registry = new Registry();
  const directory = {
    keys: new Map(keys.map((it, place) => [String(place), it])),
    callBudgets: [],
  } as unknown as Directory;
  const byKey = new Map(Object.entries(spent).map(([id, usd]) => [id, whole(usd)]));
  const spend = { atMs: Date.parse(day), byKey };
  budgetMetrics(registry, { directory: () => directory, spend: () => spend, clock });
  return await registry.metrics();
}

const DOLLAR = 10n ** 12n;

test("budgets of keys and of their teams are shown once each, with their use", async () => {
  const budget = { id: "t", team: "web", limits: { budget_usd: "100", budget_period: "month" as const } };
  const daily = { budget_usd: "2.5", budget_period: "day" as const };
  const keys = [
    key("a", { limits: daily, sharedBudgets: [budget] }),
    // The second secret of a key, and another key of the team.
    key("a", { limits: daily, sharedBudgets: [budget] }),
    key("b", { sharedBudgets: [budget], limits: { requests_per_minute: 5 } }),
    key("over", { limits: daily, expiresAtMs: NOW.getTime() }),
  ];
  const spent = { a: { day: DOLLAR, month: 9n * DOLLAR }, t: { day: DOLLAR, month: 30n * DOLLAR } };
  const text = await shown(keys, spent);
  expect(text).toContain('tallygate_budget_usd{kind="key",name="key a",period="day"} 2.5\n');
  expect(text).toContain('tallygate_budget_used_usd{kind="key",name="key a",period="day"} 1\n');
  expect(text).toContain('tallygate_budget_used_usd{kind="team",name="web",period="month"} 30\n');
  expect(text.match(/^tallygate_budget_usd\{/gm)?.length).toBe(2);
  // Figures of yesterday say nothing about today.
  expect(await shown(keys, spent, "2026-11-19")).toContain(
    'tallygate_budget_used_usd{kind="key",name="key a",period="day"} 0\n',
  );
});

test("of many budgets, the most used are shown", async () => {
  const keys = Array.from({ length: 1_000 }, (_, i) => key(`${i}`, { limits: { budget_usd: "10" } }));
  const spent = Object.fromEntries(keys.map(({ id }) => [id, { day: 0n, month: BigInt(id) * 10n ** 9n }]));
  const text = await shown(keys, spent);
  const names = [...text.matchAll(/^tallygate_budget_used_usd\{kind="key",name="key (\d+)"/gm)];
  expect(names.map(([, id]) => Number(id)).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 200 }, (_, i) => 800 + i),
  );
});
