import type postgres from "postgres";
import { connect, type PoolOptions, within } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Booking, Standing } from "../limits/decide.ts";
import { type Pico, usdText } from "../limits/money.ts";
import { type Period, SLOT_MS, SLOTS_COUNTED, slotOf } from "../limits/window.ts";

/** Whose limits: a key, and the period that its budget is in. */
export type Account = { keyId: string; period: Period };

export type Taken = Booking & { callId: string; startedAt: string };

/** What one look at a key leads to. */
export type Taking = {
  /** Calls let through; `holds`: whether each is to be held until its record is there. */
  taken: readonly Taken[];
  holds: boolean;
  /** Whether calls and tokens are counted by time. */
  rated: boolean;
  /** What this process may spend without asking, and the calls that it let through so; null: no lease is kept. */
  lease: { usd: Pico; calls: number } | null;
};

/** A call that has ended: its cost, an exact decimal, and what its tokens differ from those booked. */
export type Ended = {
  callId: string;
  keyId: string;
  /** Null: it leaves no record, so its hold goes at once. */
  usd: string | null;
  slot: number;
  tokensMore: number;
};

export type LimitStore = {
  /**
   * Looks at a key's standing, and books what `decide` says of it, while no other process can do the same for the key.
   * Rejects within 2 s when Postgres does not answer; what then became of the booking is unknown.
   */
  take(account: Account, decide: (standing: Standing) => Taking): Promise<void>;
  end(ended: Ended): Promise<void>;
  /** Says that this process lives. Resolves with the number of those that do, and for how long Postgres has run. */
  beat(): Promise<{ alive: number; upMs: number }>;
  /** Frees what processes that have not said so for 40 s held, and what of this one's is for calls that it does not have. */
  sweep(running: readonly string[]): Promise<void>;
  dropLease(keyId: string): Promise<void>;
  /** Says that this process lives no more. */
  leave(): Promise<void>;
  close(): Promise<void>;
};

const POOL: PoolOptions = {
  name: "limits",
  max: 4,
  statementTimeoutMs: 1500,
  lockTimeoutMs: 1500,
  idleTransactionTimeoutMs: 3000,
};
const DEADLINE_MS = 2000;
/** Any number, the same in every version of this program: who holds it and a key's hash decides for the key. */
const LIMIT_LOCK = 721_944_032;
/** Longest period of a budget, and what is left of a call by then was lost. */
const PERIOD_DAYS_MAX = 32;

/** The limits' own connections to Postgres; `holder` is this process. */
export function openLimitStore(databaseUrl: string, holder: string): LimitStore {
  let client: postgres.Sql | null = null;

  /** A connection that does not answer is given up with its whole pool: it may be hung for ever. */
  async function asking<T>(work: (sql: postgres.Sql) => PromiseLike<T>): Promise<T> {
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
    take: (account, decide) =>
      asking(async (sql) => {
        await sql.begin(async (tx) => {
          await tx`select pg_advisory_xact_lock(${LIMIT_LOCK}::int, hashtext(${account.keyId}))`;
          const standing = await standingOf(tx, account, holder);
          await Promise.all(writes(tx, { account, holder, nowMs: standing.nowMs }, decide(standing)));
        });
      }),
    end: (ended) => asking((sql) => endOne(sql, ended)),
    beat: () =>
      asking(async (sql) => {
        await sql`insert into limit_holders (holder, seen_at) values (${holder}, now())
          on conflict (holder) do update set seen_at = excluded.seen_at`;
        const [row] = await sql<{ alive: number; upMs: number }[]>`
          select count(*)::int as alive,
            extract(epoch from now() - pg_postmaster_start_time())::float8 * 1000 as "upMs"
          from limit_holders where seen_at > now() - interval '15 seconds'`;
        return row ?? { alive: 1, upMs: 0 };
      }),
    sweep: (running) => asking((sql) => sweep(sql, holder, running)),
    dropLease: (keyId) =>
      asking((sql) => sql`delete from limit_leases where key_id = ${keyId} and holder = ${holder}`).then(
        () => undefined,
      ),
    leave: () =>
      asking((sql) => sql`delete from limit_holders where holder = ${holder}`).then(() => undefined),
    close: async () => {
      await client?.end({ timeout: 1 });
      client = null;
    },
  };
}

const isDeadline = (error: unknown) => error instanceof Error && "code" in error && error.code === "DEADLINE";

type StandingRow = {
  nowMs: number;
  spent: string;
  /** Of calls that ended and whose records are on their way. */
  ended: string;
  held: string;
  leased: string;
  calls: number;
  slots: [slot: number, requests: number, tokens: number][];
};

/** One statement, so that a cost is seen either as held or as spent. */
async function standingOf(
  tx: postgres.TransactionSql,
  { keyId, period }: Account,
  holder: string,
): Promise<Standing> {
  const [row] = await tx<StandingRow[]>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
      (select coalesce(ceil(sum(usd) * 1e12), 0)::text from key_spend
        where org_id = ${DEFAULT_ORG} and key_id = ${keyId}
          and day >= ${period.from}::text::date and day < ${period.to}::text::date) as spent,
      ${heldIn(tx, { keyId, period }, true)} as ended,
      ${heldIn(tx, { keyId, period }, false)} as held,
      (select coalesce(ceil(sum(usd) * 1e12), 0)::text from limit_leases
        where org_id = ${DEFAULT_ORG} and key_id = ${keyId} and holder <> ${holder}
          and period = ${period.from}::text::date) as leased,
      (select count(*) from limit_holds where org_id = ${DEFAULT_ORG} and key_id = ${keyId} and not ended)::int
        + (select coalesce(sum(calls), 0) from limit_leases
          where org_id = ${DEFAULT_ORG} and key_id = ${keyId} and holder <> ${holder})::int as calls,
      (select coalesce(json_agg(json_build_array(slot, requests, tokens) order by slot), '[]') from limit_rates
        where org_id = ${DEFAULT_ORG} and key_id = ${keyId}
          and slot >= floor(extract(epoch from clock_timestamp()) * ${1000 / SLOT_MS}::int) - ${SLOTS_COUNTED}::int) as slots`;
  if (!row) throw new RangeError("a select without a table has one row");
  return {
    nowMs: row.nowMs,
    spent: BigInt(row.spent) + BigInt(row.ended),
    held: BigInt(row.held) + BigInt(row.leased),
    calls: row.calls,
    slots: row.slots.map(([slot, requests, tokens]) => ({ slot, requests, tokens })),
  };
}

const heldIn = (tx: postgres.TransactionSql, { keyId, period }: Account, ended: boolean) => tx`
  (select coalesce(ceil(sum(usd) * 1e12), 0)::text from limit_holds
    where org_id = ${DEFAULT_ORG} and key_id = ${keyId} and ended = ${ended}
      and started_at >= ${period.from}::text::timestamptz and started_at < ${period.to}::text::timestamptz)`;

type Place = { account: Account; holder: string; nowMs: number };

function writes(
  tx: postgres.TransactionSql,
  place: Place,
  { taken, holds, rated, lease }: Taking,
): PromiseLike<unknown>[] {
  const { account, holder, nowMs } = place;
  const { keyId, period } = account;
  const statements: PromiseLike<unknown>[] = [];
  if (holds && taken.length > 0) {
    const rows = taken.map(({ callId, startedAt, usd }) => ({ callId, startedAt, usd: usdText(usd) }));
    statements.push(tx`
      insert into limit_holds (org_id, call_id, key_id, holder, started_at, usd)
      select ${DEFAULT_ORG}, "callId", ${keyId}, ${holder}, "startedAt", usd
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as r("callId" uuid, "startedAt" timestamptz, usd numeric)`);
  }
  if (rated && taken.length > 0) {
    const tokens = taken.reduce((sum, one) => sum + one.tokens, 0);
    statements.push(tx`
      insert into limit_rates as booked (org_id, key_id, slot, requests, tokens)
      values (${DEFAULT_ORG}, ${keyId}, ${slotOf(nowMs)}, ${taken.length}, ${tokens})
      on conflict (org_id, key_id, slot) do update
      set requests = booked.requests + excluded.requests, tokens = booked.tokens + excluded.tokens`);
  }
  if (lease !== null) {
    statements.push(tx`
      insert into limit_leases (org_id, key_id, holder, period, usd, calls)
      values (${DEFAULT_ORG}, ${keyId}, ${holder}, ${period.from}::text::date, ${usdText(lease.usd)}, ${lease.calls})
      on conflict (org_id, key_id, holder) do update
      set period = excluded.period, usd = excluded.usd, calls = excluded.calls`);
  }
  return statements;
}

async function endOne(sql: postgres.Sql, { callId, keyId, usd, slot, tokensMore }: Ended): Promise<void> {
  const isHold = sql`org_id = ${DEFAULT_ORG} and call_id = ${callId}`;
  await Promise.all([
    usd === null
      ? sql`delete from limit_holds where ${isHold}`
      : sql`update limit_holds set ended = true, usd = ${usd} where ${isHold}`,
    tokensMore === 0
      ? null
      : sql`update limit_rates set tokens = greatest(0, tokens + ${tokensMore})
          where org_id = ${DEFAULT_ORG} and key_id = ${keyId} and slot = ${slot}`,
  ]);
}

/** Holds of calls that ended stay, whoever held them: their cost is known, and their record will take them away. */
async function sweep(sql: postgres.Sql, holder: string, running: readonly string[]): Promise<void> {
  const alive = sql`select holder from limit_holders where seen_at > now() - interval '40 seconds'`;
  await sql`delete from limit_holds where not ended and (
      holder not in (${alive})
      or (holder = ${holder} and call_id <> all(${[...running]}::text[]::uuid[])))
    or started_at < now() - make_interval(days => ${PERIOD_DAYS_MAX})`;
  await sql`delete from limit_leases where holder not in (${alive})`;
  await sql`delete from limit_holders where seen_at < now() - interval '1 hour'`;
  await sql`delete from limit_rates
    where slot < floor(extract(epoch from clock_timestamp()) * ${1000 / SLOT_MS}::int) - ${SLOTS_COUNTED + 1}::int`;
}
