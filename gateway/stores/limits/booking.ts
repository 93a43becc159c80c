import type postgres from "postgres";
import type { Limits } from "#drizzle/schema/budgets.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { type Booking, type FoundState, isHeld } from "../../limits/admission.ts";
import { formatPico } from "../../limits/money.ts";
import {
  type BudgetPeriod,
  type RateSlot,
  SLOT_MS,
  SLOTS_COUNTED,
  withReservation,
} from "../../limits/window.ts";

/** An account in a budget period. `holder` is this process. */
export type AccountPlace = { accountId: string; period: BudgetPeriod; holder: string };
/** What it spends is booked under `spendId`. */
export type BudgetPlace = AccountPlace & { spendId: string };

export type CallSettlement = {
  callId: string;
  /** Its cost as an exact decimal. Null: the call leaves no record, so its holds are removed at once. */
  usd: string | null;
  /** How many accounts hold it. */
  holds: number;
  /** By how much its tokens differ from those that were counted. */
  correction: { accountId: string; slot: number; tokens: number } | null;
};

type StateRow = {
  accountId: string;
  turn: number;
  nowMs: number;
  spent: string;
  /** Of ended calls whose records are not stored yet. */
  ended: string;
  held: string;
  leased: string;
  calls: number;
  slots: [slot: number, requests: number, tokens: number][];
};

/** Reads accounts' states. One statement, so that a cost is seen either as held or as spent, never as both. */
export async function readStates(
  sql: postgres.Sql,
  places: readonly BudgetPlace[],
): Promise<Map<string, FoundState>> {
  const asked = places.map(({ accountId, spendId, period, holder }) => ({
    accountId,
    spendId,
    holder,
    ...period,
  }));
  const pico = (filter = sql``) => sql`coalesce(ceil(sum(usd) ${filter} * 1e12), 0)::text`;
  const inPeriod = sql`started_at >= "from"::timestamptz and started_at < "to"::timestamptz`;
  const ofAccount = sql`org_id = ${DEFAULT_ORG} and key_id = "accountId"`;
  const rows = await sql<StateRow[]>`
    select "accountId", coalesce((select turn from limit_turns where ${ofAccount}), 0)::float8 as turn,
      floor(extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
      (select ${pico()} from key_spend where org_id = ${DEFAULT_ORG} and key_id = "spendId"
        and day >= "from"::date and day < "to"::date) as spent,
      holds.ended, holds.held, leases.usd as leased, holds.calls + leases.calls as calls,
      (select coalesce(json_agg(json_build_array(slot, requests, tokens) order by slot), '[]')
        from limit_rates where ${ofAccount}
          and slot >= floor(extract(epoch from clock_timestamp()) * ${1000 / SLOT_MS}::int) - ${SLOTS_COUNTED}::int) as slots
    from json_to_recordset(${JSON.stringify(asked)}::text::json)
      as asked("accountId" uuid, "spendId" uuid, holder uuid, "from" text, "to" text),
    lateral (
      select ${pico(sql`filter (where ended and ${inPeriod})`)} as ended,
        ${pico(sql`filter (where not ended and ${inPeriod})`)} as held, (count(*) filter (where not ended))::int as calls
      from limit_holds where ${ofAccount}
    ) as holds,
    lateral (
      select ${pico(sql`filter (where period = "from"::date)`)} as usd, coalesce(sum(calls), 0)::int as calls
      from limit_leases where ${ofAccount} and limit_leases.holder <> asked.holder
    ) as leases`;
  return new Map(
    rows.map(({ accountId, turn, nowMs, spent, ended, held, leased, calls, slots }) => [
      accountId,
      {
        turn,
        nowMs,
        calls,
        spent: BigInt(spent) + BigInt(ended),
        held: BigInt(held) + BigInt(leased),
        slots: slots.map(([slot, requests, tokens]) => ({ slot, requests, tokens })),
      },
    ]),
  );
}

export type PlacedBooking = { place: AccountPlace; booking: Booking };

/** How long a process may book alone: longer than it believes (limits/account.ts), by what a statement may take. */
const ALONE_SECONDS = 1;
/** The most of that which is left after a statement waited for a lock. If more is left, a clock was set back. */
const LEFT_SECONDS = 6;

/**
 * Stores bookings, each unless another process has written since its turn was read or may book alone, and what ended calls
 * have cost. Resolves with the turns of the accounts whose bookings are stored, and null for those that another process may
 * book alone; one of the competitors for an account always succeeds. The process that may book alone sees from the turn that
 * another one tried to, whatever turn that had read, and is no longer alone. One statement instead of a transaction: if its connection is lost,
 * postgres.js ends the process at the rollback. Rows that processes share are locked in one order.
 */
export async function write(
  sql: postgres.Sql,
  bookings: readonly PlacedBooking[],
  settlements: readonly CallSettlement[],
): Promise<Map<string, number | null>> {
  const json = (rows: readonly object[]) => sql`json_to_recordset(${JSON.stringify(rows)}::text::json)`;
  const turns = bookings.map(({ place: { accountId, period, holder }, booking }) => {
    const { lease, found, by, isTold: told } = booking;
    const alone = booking.aloneUntilMs !== null;
    const usd = lease && { usd: formatPico(lease.usd), calls: lease.calls };
    return { accountId, holder, by, turn: found.turn ?? 0, told, alone, period: period.from, ...usd };
  });
  const left = sql`now() + make_interval(secs => ${LEFT_SECONDS}::float8)`;
  const isTaken = sql`(known.alone_until > now() and known.alone_until < ${left} and known.holder <> excluded.holder)`;
  const ends = new Map(settlements.map((it) => [it.callId, it.usd]));
  const holds = bookings.flatMap((it) => holdsOf(it, ends));
  const told = Map.groupBy(holds, ({ callId }) => callId);
  const ending = settlements.filter(({ callId, holds: all }) => (told.get(callId)?.length ?? 0) !== all);
  const ended = ending.filter(({ usd }) => usd !== null);
  // An array, and no join: a plan made while the table was small would read all of it.
  const ids = (calls: readonly CallSettlement[]) => sql`${calls.map(({ callId }) => callId)}::text[]::uuid[]`;
  const rows = await sql<{ accountId: string; turn: number | null }[]>`
    with asked as (
      select * from ${json(turns)} as r("accountId" uuid, holder uuid, by uuid, turn bigint, told boolean, alone boolean,
        period date, usd numeric, calls int)
    ), turned as (
      insert into limit_turns as known (org_id, key_id, turn, holder, alone_until)
      select ${DEFAULT_ORG}, "accountId", turn + 1, by,
        case when alone then clock_timestamp() + make_interval(secs => ${ALONE_SECONDS}::float8) end
      from asked order by "accountId"
      on conflict (org_id, key_id) do update set turn = known.turn + 1,
        holder = case when ${isTaken} then known.holder else excluded.holder end,
        alone_until = case when ${isTaken} then known.alone_until
          when known.turn = excluded.turn - 1 then excluded.alone_until end
      where known.turn = excluded.turn - 1 or ${isTaken} or (select told from asked where "accountId" = known.key_id)
      returning key_id, turn, holder
    ), mine as (
      select key_id from turned join asked on key_id = "accountId" where told or turned.holder = asked.by
    ), held as (
      insert into limit_holds (org_id, call_id, key_id, holder, started_at, usd, ended)
      select ${DEFAULT_ORG}, "callId", key_id, holder, "startedAt", usd, ended
      from ${json(holds)}
        as r("callId" uuid, "accountId" uuid, holder uuid, "startedAt" timestamptz, usd numeric, ended boolean)
      join mine on key_id = "accountId"
    ), counted as (
      insert into limit_rates as booked (org_id, key_id, slot, requests, tokens)
      select ${DEFAULT_ORG}, "accountId", slot, sum(requests), sum(tokens)
      from ${json([...bookings.flatMap(ratesOf), ...settlements.flatMap(correctionsOf)])}
        as r("accountId" uuid, slot bigint, requests int, tokens bigint)
      where requests = 0 or "accountId" in (select key_id from mine)
      group by "accountId", slot order by "accountId", slot
      on conflict (org_id, key_id, slot) do update
      set requests = booked.requests + excluded.requests, tokens = greatest(0, booked.tokens + excluded.tokens)
    ), leased as (
      insert into limit_leases (org_id, key_id, holder, period, usd, calls)
      select ${DEFAULT_ORG}, key_id, holder, period, usd, calls from asked join mine on key_id = "accountId"
      where calls is not null
      on conflict (org_id, key_id, holder) do update
      set period = excluded.period, usd = excluded.usd, calls = excluded.calls
    ), ended as (
      update limit_holds
      set ended = true, usd = (${ended.map(({ usd }) => usd)}::text[]::numeric[])[array_position(${ids(ended)}, call_id)]
      where org_id = ${DEFAULT_ORG} and call_id = any(${ids(ended)})
    ), released as (
      delete from limit_holds
      where org_id = ${DEFAULT_ORG} and call_id = any(${ids(ending.filter(({ usd }) => usd === null))})
    )
    select key_id as "accountId", case when key_id in (select key_id from mine) then turn::float8 end as turn from turned`;
  return new Map(rows.map(({ accountId, turn }) => [accountId, turn]));
}

/** Keys that share an account may have different limits. `ends`: what calls that have ended cost; null: no record is left. */
const holdsOf = (
  { place: { accountId, holder }, booking }: PlacedBooking,
  ends: ReadonlyMap<string, string | null>,
) =>
  booking.admitted
    .filter(({ limits, callId }) => isHeld(limits) && ends.get(callId) !== null)
    .map(({ callId, startedAt, reservation }) => {
      const usd = ends.get(callId) ?? formatPico(reservation.usd);
      return { callId, accountId, holder, startedAt, usd, ended: ends.has(callId) };
    });

const ratesOf = ({ place: { accountId }, booking: { admitted } }: PlacedBooking) =>
  admitted
    .filter(({ limits }) => isRated(limits))
    .map(({ slot, reservation: { tokens } }) => ({ slot, requests: 1, tokens }))
    .reduce(withReservation, [] as readonly RateSlot[])
    .map((slot) => ({ accountId, ...slot }));

const correctionsOf = ({ correction }: CallSettlement) =>
  correction ? [{ ...correction, requests: 0 }] : [];

const isRated = ({ requests_per_minute, tokens_per_minute }: Limits): boolean =>
  requests_per_minute !== undefined || tokens_per_minute !== undefined;
