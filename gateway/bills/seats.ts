import { sql } from "drizzle-orm";
import type { Database, Db, Transaction } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { commitments, seats } from "#drizzle/schema/vendor-bills.ts";
import { storedEmail } from "#shared/admin/people.ts";
import {
  type CommitmentPatch,
  type CommitmentUse,
  CommitmentView,
  SEAT_AGENTS,
  type SeatPatch,
  type SeatUse,
  type UsedSeat,
} from "#shared/admin/seats.ts";
import {
  decimalQuotient,
  difference,
  type Exact,
  exactSum,
  formatDecimal,
  parseDecimal,
  times,
  ZERO,
} from "#shared/decimal.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { viewAs } from "#shared/view-as.ts";
import type { AnswerRow } from "../reports/assemble.ts";
import { commitmentsQuery, coveredBy } from "../reports/commitments.ts";
import { sent } from "../reports/parameters.ts";
import { editedFields, idRows } from "../stores/rows.ts";
import { withStoreErrors } from "../stores/store-errors.ts";

export type SeatRow = typeof seats.$inferSelect;
export type SeatFields = Omit<SeatRow, "orgId" | "id" | "createdAt">;
export type CommitmentRow = typeof commitments.$inferSelect;
export type CommitmentFields = Omit<CommitmentRow, "orgId" | "id" | "createdAt">;

export const SEATS = idRows(seats);
export const COMMITMENTS = idRows(commitments);

const NEW_SEAT: SeatFields = {
  person: "",
  vendor: "other",
  plan: "",
  monthlyUsd: "0",
  effectiveFrom: "",
  effectiveTo: null,
};

/** The seat with what the body gives. @throws GatewayError if it would end before it begins */
export function editedSeat(current: SeatFields | null, body: SeatPatch): SeatFields {
  const it = editedFields(current ?? NEW_SEAT, body, ["monthlyUsd"]);
  return { ...it, person: storedEmail(it.person) };
}

const NEW_COMMITMENT: CommitmentFields = {
  name: "",
  kind: "commitment",
  provider: "",
  models: null,
  amountUsd: "0",
  worthUsd: null,
  effectiveFrom: "",
  effectiveTo: "",
};

/** The commitment with what the body gives. @throws GatewayError if it would end before it begins */
export const editedCommitment = (current: CommitmentFields | null, body: CommitmentPatch): CommitmentFields =>
  editedFields(current ?? NEW_COMMITMENT, body, ["amountUsd", "worthUsd"]);

/** Adds seats, or changes those of the same person, vendor, plan and start. */
export async function importSeats(tx: Transaction, wanted: readonly SeatFields[], now: Date) {
  const read = { added: 0, changed: 0 };
  for (const seat of wanted) {
    const { person, vendor, plan, effectiveFrom } = seat;
    const isSame = ours(seats, { person, vendor, plan, effectiveFrom });
    if ((await tx.update(seats).set(seat).where(isSame)).count > 0) read.changed += 1;
    else {
      await SEATS.insert(tx, seat, now);
      read.added += 1;
    }
  }
  return read;
}

const DAY_MS = 86_400_000;
const FOREVER_MS = Date.UTC(9999, 0);

/**
 * Seats of a month, such as `2026-11`, beside the use of their agents: calls on the subscription lane, and what agents report
 * about themselves; an agent that does both counts once, by the higher figure. Use of a day counts on one seat of its person and vendor: that
 * which began last. `person`: theirs alone.
 */
export const seatUse = ({ db }: Db, month: string, person: string | null = null): Promise<SeatUse> =>
  withStoreErrors(async () => {
    const fromMs = Date.parse(`${month}-01`);
    const toMs = Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5, 7)));
    const [from, to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
    const agents = Object.entries(SEAT_AGENTS).flatMap(([vendor, names]) =>
      names.map((name) => ({ vendor, name })),
    );
    const rows = await db.execute<Omit<UsedSeat, "cost_usd"> & { began: string; ended: string | null }>(sql`
      with agents as (
        select * from jsonb_to_recordset(${JSON.stringify(agents)}::text::jsonb) as a(vendor text, name text)
      ), uses as (
        select 'lane' as source, lower(r.owner) as person, a.vendor, date_trunc('day', r.started_at, 'UTC') as day,
          count(*) as calls, sum(r.cost_usd) as usd, max(r.started_at) as last_at
        from requests r join agents a on r.client like a.name
        where r.org_id = ${DEFAULT_ORG} and r.channel = 'subscription' and r.owner is not null
          and r.started_at >= ${from}::timestamptz and r.started_at < ${to}::timestamptz
        group by 2, 3, 4
        union all
        select 'agent', lower(p.owner), a.vendor, date_trunc('day', p.ended_at, 'UTC'), sum(p.operations), sum(p.cost_usd), max(p.ended_at)
        from agent_points p join agents a on p.client like a.name
        where p.org_id = ${DEFAULT_ORG} and p.owner is not null
          and p.ended_at >= ${from}::timestamptz and p.ended_at < ${to}::timestamptz
        group by 2, 3, 4
      ), own as (
        select * from seats where org_id = ${DEFAULT_ORG} and effective_from < ${to}::timestamptz
          and coalesce(effective_to, 'infinity') > ${from}::timestamptz and (${person}::text is null or person = ${person})
      ), used as (
        select id, source, sum(calls) as calls, sum(usd) as usd, max(last_at) as last_at from (
          select distinct on (u.source, u.person, u.vendor, u.day) o.id, u.* from uses u join own o on o.person = u.person and o.vendor = u.vendor
            and o.effective_from < u.day + interval '1 day' and coalesce(o.effective_to, 'infinity') > u.day
          order by u.source, u.person, u.vendor, u.day, o.effective_from desc, o.plan, o.id) it
        group by 1, 2
      )
      select s.person, s.vendor, s.plan, s.monthly_usd::text as monthly_usd, s.effective_from as began, s.effective_to as ended,
        case when s.vendor in (select vendor from agents) then
          coalesce(max(greatest(u.calls, (u.last_at is not null)::int)), 0)::integer end as calls,
        max(u.usd)::text as value_usd, max(u.last_at) as last_used_at
      from own s left join used u using (id)
      group by s.id, s.person, s.vendor, s.plan, s.monthly_usd, s.effective_from, s.effective_to
      order by s.person, s.vendor, s.plan`);
    const list = rows.map(({ began, ended, last_used_at: at, ...row }): UsedSeat => {
      const paidMs =
        Math.min(toMs, ended === null ? toMs : Date.parse(ended)) - Math.max(fromMs, Date.parse(began));
      const days = (ms: number) => Math.max(1, Math.round(ms / DAY_MS));
      const whole = parseDecimal(String(days(toMs - fromMs)));
      const cost = decimalQuotient(times(parseDecimal(row.monthly_usd), days(paidMs)), whole);
      return { ...row, cost_usd: formatDecimal(cost), last_used_at: at && new Date(at).toISOString() };
    });
    return { month, seats: list, vendors: byVendor(list) };
  });

const sum = (amounts: readonly string[]): string => formatDecimal(exactSum(amounts.map(parseDecimal)));

const byVendor = (list: readonly UsedSeat[]): SeatUse["vendors"] =>
  [...Map.groupBy(list, ({ vendor }) => vendor)].map(([vendor, those]) => {
    const isKnown = those.every(({ calls }) => calls !== null);
    const values = those.flatMap(({ value_usd }) => value_usd ?? []);
    return {
      vendor,
      seats: those.length,
      used: isKnown ? those.filter(({ calls }) => (calls ?? 0) > 0).length : null,
      cost_usd: sum(those.map(({ cost_usd }) => cost_usd)),
      unused_usd: isKnown ? sum(those.flatMap(({ calls, cost_usd }) => (calls === 0 ? cost_usd : []))) : null,
      value_usd: values.length === 0 ? null : sum(values),
    };
  });

/** Commitments, the latest first, with the use that they covered until now. Each dollar of use is covered once. */
export const commitmentUse = ({ db, sql: one }: Database, now: Date): Promise<CommitmentUse["data"]> =>
  withStoreErrors(async () => {
    const query = commitmentsQuery(DEFAULT_ORG, { fromMs: 0, toMs: FOREVER_MS });
    const { covered } = coveredBy(await one.unsafe<AnswerRow[]>(query.text, sent(query)));
    const list = await COMMITMENTS.list(db, { after: null, limit: 1000 });
    return list.map((row) => ({
      ...viewAs(CommitmentView, row),
      ...useOf(row, covered.get(row.id) ?? ZERO, now),
    }));
  });

function useOf(row: CommitmentRow, covered: Exact, now: Date) {
  const worthUsd = row.worthUsd ?? (row.kind === "credit" ? row.amountUsd : null);
  const [beganMs, endsMs] = [Date.parse(row.effectiveFrom), Date.parse(row.effectiveTo)];
  const elapsed = Math.min(1, Math.max(0, (now.getTime() - beganMs) / (endsMs - beganMs)));
  const worth = worthUsd === null ? null : parseDecimal(worthUsd);
  const of = worthUsd === null ? Number(row.amountUsd) * elapsed : Number(worthUsd);
  return {
    covered_usd: formatDecimal(covered),
    left_usd: worth && formatDecimal(difference(worth, covered)),
    share: of === 0 ? null : Number(formatDecimal(covered)) / of,
  };
}
