import { setImmediate } from "node:timers/promises";
import type postgres from "postgres";
import { Counter, Gauge, type Registry } from "prom-client";
import type { BoundedQuery } from "#drizzle/deadline-pool.ts";
import type { Ambient } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { keysOf } from "#shared/keys-of.ts";
import { errorFields } from "#shared/log.ts";
import type { AwayFigures } from "../../limits/admission.ts";
import { type AwayTotal, type Overruns, overrunsOf } from "../../limits/away.ts";
import { formatPico } from "../../limits/money.ts";
import { budgetPeriodAt } from "../../limits/window.ts";
import type { Accounts, OpenAccount } from "./accounts.ts";
import type { AccountPlace } from "./booking.ts";
import { type KeySpend, readSpend, spentIn } from "./key-spend.ts";

type OutageDeps = Ambient & {
  query: BoundedQuery;
  holder: string;
  accounts: Accounts;
  metrics: OutageMetrics;
  /** Resolves when the records of all calls that have ended are stored. */
  recorded: () => Promise<void>;
  learned: { spend: KeySpend };
};

/** How often the spend of keys is reloaded: a process's only figures for keys that it has not seen. */
const SPEND_MS = 60_000;

/** Makes up for an outage when the database is back. */
export function openOutage(deps: OutageDeps) {
  const { query, holder, accounts, clock, log, recorded, learned } = deps;
  /** Accounts to be looked at, with the minutes in which they had calls. */
  let pending = new Map<OpenAccount, Set<number>>();
  let spendAtMs = Number.NEGATIVE_INFINITY;
  let isRunning = false;

  async function settleOne(account: OpenAccount): Promise<void> {
    const { id, figures } = account;
    const taken = figures.unbooked.take();
    if (!taken) return;
    try {
      await query((sql) => storeAway(sql, { accountId: id, period: figures.period, holder }, taken));
    } catch (error) {
      figures.unbooked.giveBack(taken);
      throw error;
    }
    const minutes = taken.minutes.map(({ atMs }) => atMs);
    pending.set(account, new Set([...(pending.get(account) ?? []), ...minutes]));
    spendAtMs = Number.NEGATIVE_INFINITY;
  }

  async function compare(): Promise<void> {
    const unstored = accounts.all().map(({ figures }) => ({ figures, usd: figures.unbooked.count.spent }));
    if (unstored.some(({ usd }) => usd > 0n)) {
      // A call hands its record over a moment after its cost.
      await setImmediate();
      await recorded();
      for (const { figures, usd } of unstored) figures.unbooked.stored(usd);
      spendAtMs = Number.NEGATIVE_INFINITY;
    }
    if (clock.monotonicMs() - spendAtMs < SPEND_MS) return;
    const spend = await query((sql) => readSpend(sql, clock.now()));
    learned.spend = spend;
    for (const { spendId, figures } of accounts.all())
      figures.sawSpent(spentIn(spend, spendId, figures.period));
    spendAtMs = clock.monotonicMs();
    const reported = pending;
    pending = new Map();
    for (const [account, minutes] of reported) await report(deps, account, [...minutes]);
  }

  return {
    /** Adds the calls that were admitted without the database. Rejects if it is away. */
    async settle(): Promise<void> {
      for (const account of accounts.all()) await settleOne(account);
    },
    /** Once the records are stored: clears their cost, and reports keys that exceeded a limit. Runs one at a time. */
    afterwards(): void {
      if (isRunning) return;
      isRunning = true;
      compare()
        .catch((error) => log.warn(errorFields(error), "limits could not be compared after an outage yet"))
        .finally(() => {
          isRunning = false;
        });
    },
  };
}

async function report(
  { query, metrics, clock, log, learned }: OutageDeps,
  { id, spendId, figures }: OpenAccount,
  minutes: number[],
): Promise<void> {
  const totals = await query((sql) => awayTotals(sql, id, minutes));
  const { limits } = figures;
  const period = budgetPeriodAt(limits.budget_period ?? "month", clock.now());
  const over = overrunsOf(limits, totals, spentIn(learned.spend, spendId, period) + figures.unbooked.usd());
  const limitsOver = keysOf(over).filter((limit) => over[limit] > 0);
  for (const limit of limitsOver) metrics.overrun(limit);
  const facts = {
    keyId: id,
    requests: totals.reduce((sum, { requests }) => sum + requests, 0),
    overRequests: over.requests_per_minute,
    overTokens: over.tokens_per_minute,
    overCalls: over.concurrency,
    ...(limits.budget_usd !== undefined && { overUsd: formatPico(over.budget_usd) }),
  };
  if (limitsOver.length > 0) log.warn(facts, "a key went over its limits while the database was away");
  else log.info(facts, "a key's calls were counted here while the database was away");
}

/** One statement: the figures are added as a whole, or not at all. */
async function storeAway(
  sql: postgres.Sql,
  { accountId, period, holder }: AccountPlace,
  { slots, minutes, lease }: AwayFigures,
): Promise<void> {
  const rows = minutes.map(({ atMs, usd, ...counts }) => ({
    ...counts,
    minute: new Date(atMs).toISOString(),
    usd: formatPico(usd),
  }));
  await sql`
    with counted as (
      insert into limit_rates as booked (org_id, key_id, slot, requests, tokens)
      select ${DEFAULT_ORG}, ${accountId}, slot, requests, tokens
      from json_to_recordset(${JSON.stringify(slots)}::text::json) as r(slot bigint, requests int, tokens bigint)
      on conflict (org_id, key_id, slot) do update
      set requests = booked.requests + excluded.requests, tokens = booked.tokens + excluded.tokens
    ), leased as (
      insert into limit_leases (org_id, key_id, holder, period, usd, calls)
      values (${DEFAULT_ORG}, ${accountId}, ${holder}, ${period.from}::text::date,
        ${formatPico(lease.usd)}::text::numeric, ${lease.calls}::int)
      on conflict (org_id, key_id, holder) do update
      set period = excluded.period, usd = excluded.usd, calls = excluded.calls
    )
    insert into limit_away as known (org_id, key_id, minute, holder, requests, tokens, calls, usd)
    select ${DEFAULT_ORG}, ${accountId}, minute, ${holder}, sum(requests), sum(tokens), max(calls), sum(usd)
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r(minute timestamptz, requests int, tokens bigint, calls int, usd numeric)
    group by minute
    on conflict (org_id, key_id, minute, holder) do update
    set requests = known.requests + excluded.requests, tokens = known.tokens + excluded.tokens,
      calls = greatest(known.calls, excluded.calls), usd = known.usd + excluded.usd`;
}

/** Calls that all gateways let through for the key in these minutes while the database was away. */
async function awayTotals(
  sql: postgres.Sql,
  accountId: string,
  minutesMs: readonly number[],
): Promise<AwayTotal[]> {
  const minutes = minutesMs.map((ms) => new Date(ms).toISOString());
  return [
    ...(await sql<AwayTotal[]>`
      select sum(requests)::int as requests, sum(tokens)::float8 as tokens, sum(calls)::int as calls
      from limit_away where org_id = ${DEFAULT_ORG} and key_id = ${accountId}
        and minute = any(${minutes}::text[]::timestamptz[])
      group by minute`),
  ];
}

export type OutageMetrics = {
  /** A call was admitted without the database. */
  admittedAlone(): void;
  /** A key was found over this limit once the database was back. */
  overrun(limit: keyof Overruns): void;
};

/** Metrics of limits while the database is away. No label comes from a client. */
export function outageMetrics(registry: Registry, isAway: () => boolean): OutageMetrics {
  new Gauge({
    name: "tallygate_limits_away",
    help: "1 while keys' limits are counted here, because the database cannot be reached.",
    aggregator: "max",
    registers: [registry],
    collect() {
      this.set(isAway() ? 1 : 0);
    },
  });
  const admitted = new Counter({
    name: "tallygate_limits_away_calls_total",
    help: "Calls of keys with limits that were admitted while the database was away.",
    registers: [registry],
  });
  const over = new Counter({
    name: "tallygate_limit_overruns_total",
    help: "Keys that this gateway found over a limit after the database had been away.",
    labelNames: ["limit"],
    registers: [registry],
  });
  return { admittedAlone: () => admitted.inc(), overrun: (limit) => over.inc({ limit }) };
}
