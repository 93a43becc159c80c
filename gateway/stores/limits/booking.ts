import type postgres from "postgres";
import type { Limits } from "#drizzle/schema/budgets.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { type Booking, isHeld } from "../../limits/account.ts";
import type { LimitState } from "../../limits/decide.ts";
import { formatPico } from "../../limits/money.ts";
import { type BudgetPeriod, rateSlotAt, SLOT_MS, SLOTS_COUNTED } from "../../limits/window.ts";

/** An account in a budget period. `holder` is this process. */
export type AccountPlace = { accountId: string; period: BudgetPeriod; holder: string };
/** What it spends is booked under `spendId`. */
type BudgetPlace = AccountPlace & { spendId: string };

/** An ended call. */
export type CallSettlement = {
  callId: string;
  /** Its cost as an exact decimal. Null: the call leaves no record, so its holds are removed at once. */
  usd: string | null;
  /** By how much its tokens differ from those that were counted. */
  correction: { accountId: string; slot: number; tokens: number } | null;
};

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
 * Reads an account's state and stores the booking that `plan` returns. Optimistic: starts over until no other process has
 * written in the meantime; one of the competitors always succeeds. Not a transaction: if its connection is lost, postgres.js
 * ends the process at the rollback.
 */
export async function book(
  sql: postgres.Sql,
  place: BudgetPlace,
  plan: (found: LimitState) => Booking,
): Promise<Booking> {
  for (;;) {
    const row = await stateRow(sql, place);
    const booking = plan({
      nowMs: row.nowMs,
      spent: BigInt(row.spent) + BigInt(row.ended),
      held: BigInt(row.held) + BigInt(row.leased),
      calls: row.calls,
      slots: row.slots.map(([slot, requests, tokens]) => ({ slot, requests, tokens })),
    });
    if (booking.admitted.length === 0 || (await store(sql, { ...place, turn: row.turn }, booking)))
      return booking;
  }
}

/** One statement, so that a cost is seen either as held or as spent, never as both. */
async function stateRow(
  sql: postgres.Sql,
  { accountId, spendId, period, holder }: BudgetPlace,
): Promise<StateRow> {
  const ofKey = sql`org_id = ${DEFAULT_ORG} and key_id = ${accountId}`;
  const inPeriod = sql`started_at >= ${period.from}::text::timestamptz and started_at < ${period.to}::text::timestamptz`;
  const sum = sql`select coalesce(ceil(sum(usd) * 1e12), 0)::text`;
  const [row] = await sql<StateRow[]>`
    select coalesce((select turn from limit_turns where ${ofKey}), 0)::text as turn,
      floor(extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
      (${sum} from key_spend where org_id = ${DEFAULT_ORG} and key_id = ${spendId}
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

/** False, and nothing is written, if another process has written since `turn` was read. */
async function store(
  sql: postgres.Sql,
  { accountId, period, holder, turn }: AccountPlace & { turn: string },
  { admitted, lease, found }: Booking,
): Promise<boolean> {
  // Keys that share an account may have different limits.
  const rows = admitted
    .filter(({ limits }) => isHeld(limits))
    .map(({ callId, startedAt, reservation: { usd } }) => ({ callId, startedAt, usd: formatPico(usd) }));
  const rated = admitted.filter(({ limits }) => isRated(limits));
  const tokens = rated.reduce((sum, { reservation }) => sum + reservation.tokens, 0);
  const mine = await sql`
    with mine as (
      insert into limit_turns as known (org_id, key_id, turn) values (${DEFAULT_ORG}, ${accountId}, 1)
      on conflict (org_id, key_id) do update set turn = known.turn + 1 where known.turn = ${turn}
      returning 1
    ), held as (
      insert into limit_holds (org_id, call_id, key_id, holder, started_at, usd)
      select ${DEFAULT_ORG}, "callId", ${accountId}, ${holder}, "startedAt", usd
      from mine, json_to_recordset(${JSON.stringify(rows)}::text::json)
        as r("callId" uuid, "startedAt" timestamptz, usd numeric)
    ), counted as (
      insert into limit_rates as booked (org_id, key_id, slot, requests, tokens)
      select ${DEFAULT_ORG}, ${accountId}, ${rateSlotAt(found.nowMs)}::bigint, ${rated.length}::int, ${tokens}::bigint
      from mine where ${rated.length > 0}
      on conflict (org_id, key_id, slot) do update
      set requests = booked.requests + excluded.requests, tokens = booked.tokens + excluded.tokens
    ), leased as (
      insert into limit_leases (org_id, key_id, holder, period, usd, calls)
      select ${DEFAULT_ORG}, ${accountId}, ${holder}, ${period.from}::text::date, ${formatPico(lease?.usd ?? 0n)}::numeric,
        ${lease?.calls ?? 0}::int
      from mine where ${lease !== null}
      on conflict (org_id, key_id, holder) do update
      set period = excluded.period, usd = excluded.usd, calls = excluded.calls
    )
    select 1 from mine`;
  return mine.length > 0;
}

const isRated = ({ requests_per_minute, tokens_per_minute }: Limits): boolean =>
  requests_per_minute !== undefined || tokens_per_minute !== undefined;

/** Notes the cost of an ended call in all of its accounts, and corrects its tokens. */
export async function settle(sql: postgres.Sql, { callId, usd, correction }: CallSettlement): Promise<void> {
  const isHold = sql`org_id = ${DEFAULT_ORG} and call_id = ${callId}`;
  await Promise.all([
    usd === null
      ? sql`delete from limit_holds where ${isHold}`
      : sql`update limit_holds set ended = true, usd = ${usd} where ${isHold}`,
    correction &&
      sql`update limit_rates set tokens = greatest(0, tokens + ${correction.tokens})
        where org_id = ${DEFAULT_ORG} and key_id = ${correction.accountId} and slot = ${correction.slot}`,
  ]);
}
