import type postgres from "postgres";
import { connect, type PoolOptions, within } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { LimitState, Reservation } from "../../limits/decide.ts";
import { formatPico, type Pico } from "../../limits/money.ts";
import type { AwayTotal } from "../../limits/overruns.ts";
import { rateSlotAt, SLOT_MS, SLOTS_COUNTED } from "../../limits/window.ts";
import {
  awayTotals,
  type KeySpend,
  type LimitAccount,
  type LimitPlace,
  readSpend,
  storeAway,
} from "./away-sql.ts";
import type { AwayFigures } from "./key-account.ts";
import { sweep } from "./sweep-sql.ts";

export type ReservedCall = Reservation & { callId: string; startedAt: string };

/** What to write for one batch of a key's calls. */
export type ReservationPlan = {
  /** Admitted calls; `holdCalls`: whether each is held until its record is stored. */
  reserved: readonly ReservedCall[];
  holdCalls: boolean;
  /** Whether calls and tokens are counted per minute. */
  countRates: boolean;
  /**
   * What this process may spend while the database is unavailable, with what it spent meanwhile, and its running calls
   * that the database does not count; null: leave what is stored.
   */
  lease: Unbooked | null;
};

type Unbooked = { usd: Pico; calls: number };

/** An ended call: its cost as an exact decimal, and its tokens less those reserved. */
export type CallSettlement = {
  callId: string;
  keyId: string;
  /** Null: the call leaves no record, so its hold is removed at once. */
  usd: string | null;
  slot: number;
  tokensDelta: number;
};

export type LimitStore = {
  /**
   * Reads a key's state and writes the plan that `decide` returns; starts over if another process has written in the
   * meantime. Rejects within 5 s if Postgres does not answer; whether the reservation was written is then unknown.
   */
  reserve(account: LimitAccount, decide: (state: LimitState) => ReservationPlan): Promise<void>;
  end(ended: CallSettlement): Promise<void>;
  /** Registers this process as alive. Resolves with the number of live processes and the uptime of Postgres. */
  heartbeat(): Promise<{ alive: number; upMs: number }>;
  /** Frees holds of processes without a heartbeat for 40 s, and holds of this process without a running call. */
  sweep(running: readonly string[]): Promise<void>;
  /** Adds what this process let through while the database was away. */
  storeAway(account: LimitAccount, figures: AwayFigures & { unbooked: Unbooked }): Promise<void>;
  /** What all gateways let through for the key in these minutes while the database was away. */
  awayTotals(keyId: string, minutesMs: readonly number[]): Promise<AwayTotal[]>;
  /** What the keys with a budget have spent. */
  spend(now: Date): Promise<KeySpend>;
  dropLease(keyId: string): Promise<void>;
  deregister(): Promise<void>;
  close(): Promise<void>;
};

const POOL: PoolOptions = {
  name: "limits",
  max: 4,
  statementTimeoutMs: 4000,
  lockTimeoutMs: 4000,
};
/** Long enough for a busy server: a slow one is asked, so that gateways count together. */
const DEADLINE_MS = 5000;

/** The limits' own connections to Postgres; `holder` is this process. */
export function openLimitStore(databaseUrl: string, holder: string): LimitStore {
  let client: postgres.Sql | null = null;

  /** After a missed deadline the whole pool is replaced: the connection may hang forever. */
  async function query<T>(work: (sql: postgres.Sql) => PromiseLike<T>): Promise<T> {
    client ??= connect(databaseUrl, POOL);
    const used = client;
    const answer = Promise.resolve(work(used));
    try {
      return await within(DEADLINE_MS, answer);
    } catch (error) {
      answer.catch(() => undefined);
      if (client === used && isDeadline(error)) {
        client = null;
        used.end({ timeout: 0 }).catch(() => undefined);
      }
      throw error;
    }
  }

  return {
    reserve: (account, decide) => query((sql) => reserveSerially(sql, { account, holder }, decide)),
    end: (ended) => query((sql) => endOne(sql, ended)),
    heartbeat: () =>
      query(async (sql) => {
        await sql`insert into limit_holders (holder, seen_at) values (${holder}, now())
          on conflict (holder) do update set seen_at = excluded.seen_at`;
        const [row] = await sql<{ alive: number; upMs: number }[]>`
          select count(*)::int as alive,
            extract(epoch from now() - pg_postmaster_start_time())::float8 * 1000 as "upMs"
          from limit_holders where seen_at > now() - interval '15 seconds'`;
        return row ?? { alive: 1, upMs: 0 };
      }),
    sweep: (running) => query((sql) => sweep(sql, holder, running)),
    storeAway: (account, figures) => query((sql) => storeAway(sql, { account, holder }, figures)),
    awayTotals: (keyId, minutesMs) => query((sql) => awayTotals(sql, keyId, minutesMs)),
    spend: (now) => query((sql) => readSpend(sql, now)),
    dropLease: (keyId) =>
      query((sql) => sql`delete from limit_leases where key_id = ${keyId} and holder = ${holder}`).then(
        () => undefined,
      ),
    deregister: () =>
      query((sql) => sql`delete from limit_holders where holder = ${holder}`).then(() => undefined),
    close: async () => {
      await client?.end({ timeout: 1 });
      client = null;
    },
  };
}

const isDeadline = (error: unknown) => error instanceof Error && "code" in error && error.code === "DEADLINE";

type StateRow = {
  turn: string;
  nowMs: number;
  spent: string;
  /** Of ended calls whose records are not stored yet. */
  ended: string;
  held: string;
  leased: string;
  calls: number;
  slots: [slot: number, requests: number, tokens: number][];
};

/**
 * Optimistic: starts over until no other process has written in the meantime; one of the competitors always succeeds. Not a
 * transaction: if its connection is lost, postgres.js ends the process at the rollback.
 */
async function reserveSerially(
  sql: postgres.Sql,
  place: LimitPlace,
  decide: (state: LimitState) => ReservationPlan,
): Promise<void> {
  for (;;) {
    const row = await stateRow(sql, place);
    const state = {
      nowMs: row.nowMs,
      spent: BigInt(row.spent) + BigInt(row.ended),
      held: BigInt(row.held) + BigInt(row.leased),
      calls: row.calls,
      slots: row.slots.map(([slot, requests, tokens]) => ({ slot, requests, tokens })),
    };
    const plan = decide(state);
    if (plan.reserved.length === 0) return;
    if (await book(sql, { ...place, turn: row.turn, slot: rateSlotAt(row.nowMs) }, plan)) return;
  }
}

/** One statement, so that a cost is seen either as held or as spent, never as both. */
async function stateRow(sql: postgres.Sql, { account, holder }: LimitPlace): Promise<StateRow> {
  const { keyId, period } = account;
  const ofKey = sql`org_id = ${DEFAULT_ORG} and key_id = ${keyId}`;
  const inPeriod = sql`started_at >= ${period.from}::text::timestamptz and started_at < ${period.to}::text::timestamptz`;
  const sum = sql`select coalesce(ceil(sum(usd) * 1e12), 0)::text`;
  const [row] = await sql<StateRow[]>`
    select coalesce((select turn from limit_turns where ${ofKey}), 0)::text as turn,
      floor(extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
      (${sum} from key_spend where ${ofKey}
        and day >= ${period.from}::text::date and day < ${period.to}::text::date) as spent,
      (${sum} from limit_holds where ${ofKey} and ended and ${inPeriod}) as ended,
      (${sum} from limit_holds where ${ofKey} and not ended and ${inPeriod}) as held,
      (${sum} from limit_leases where ${ofKey}
        and holder <> ${holder} and period = ${period.from}::text::date) as leased,
      (select count(*) from limit_holds where ${ofKey} and not ended)::int
        + (select coalesce(sum(calls), 0) from limit_leases where ${ofKey} and holder <> ${holder})::int as calls,
      (select coalesce(json_agg(json_build_array(slot, requests, tokens) order by slot), '[]')
        from limit_rates where ${ofKey}
          and slot >= floor(extract(epoch from clock_timestamp()) * ${1000 / SLOT_MS}::int) - ${SLOTS_COUNTED}::int) as slots`;
  if (!row) throw new RangeError("a select without a table has one row");
  return row;
}

type Turn = LimitPlace & { turn: string; slot: number };

/** False, and nothing is written, if another process has written since `turn` was read. */
async function book(
  sql: postgres.Sql,
  it: Turn,
  { reserved, holdCalls, countRates, lease }: ReservationPlan,
): Promise<boolean> {
  const { account, holder, turn, slot } = it;
  const { keyId, period } = account;
  const rows = reserved.map(({ callId, startedAt, usd }) => ({ callId, startedAt, usd: formatPico(usd) }));
  const tokens = reserved.reduce((sum, one) => sum + one.tokens, 0);
  const mine = await sql`
    with mine as (
      insert into limit_turns as known (org_id, key_id, turn) values (${DEFAULT_ORG}, ${keyId}, 1)
      on conflict (org_id, key_id) do update set turn = known.turn + 1 where known.turn = ${turn}
      returning 1
    ), held as (
      insert into limit_holds (org_id, call_id, key_id, holder, started_at, usd)
      select ${DEFAULT_ORG}, "callId", ${keyId}, ${holder}, "startedAt", usd
      from mine, json_to_recordset(${JSON.stringify(holdCalls ? rows : [])}::text::json)
        as r("callId" uuid, "startedAt" timestamptz, usd numeric)
    ), counted as (
      insert into limit_rates as booked (org_id, key_id, slot, requests, tokens)
      select ${DEFAULT_ORG}, ${keyId}, ${slot}::bigint, ${reserved.length}::int, ${tokens}::bigint
      from mine where ${countRates}
      on conflict (org_id, key_id, slot) do update
      set requests = booked.requests + excluded.requests, tokens = booked.tokens + excluded.tokens
    ), leased as (
      insert into limit_leases (org_id, key_id, holder, period, usd, calls)
      select ${DEFAULT_ORG}, ${keyId}, ${holder}, ${period.from}::text::date, ${formatPico(lease?.usd ?? 0n)}::numeric,
        ${lease?.calls ?? 0}::int
      from mine where ${lease !== null}
      on conflict (org_id, key_id, holder) do update
      set period = excluded.period, usd = excluded.usd, calls = excluded.calls
    )
    select 1 from mine`;
  return mine.length > 0;
}

async function endOne(
  sql: postgres.Sql,
  { callId, keyId, usd, slot, tokensDelta }: CallSettlement,
): Promise<void> {
  const isHold = sql`org_id = ${DEFAULT_ORG} and call_id = ${callId}`;
  await Promise.all([
    usd === null
      ? sql`delete from limit_holds where ${isHold}`
      : sql`update limit_holds set ended = true, usd = ${usd} where ${isHold}`,
    tokensDelta === 0
      ? null
      : sql`update limit_rates set tokens = greatest(0, tokens + ${tokensDelta})
          where org_id = ${DEFAULT_ORG} and key_id = ${keyId} and slot = ${slot}`,
  ]);
}
