import {
  decimalQuotient,
  difference,
  type Exact,
  exactSum,
  formatDecimal,
  isOver,
  isZero,
  parseDecimal,
  plus,
  product,
  ZERO,
} from "#shared/decimal.ts";
import { type AsOf, callsAsOf } from "./as-of.ts";
import type { AnswerRow } from "./assemble.ts";
import { parameters, type Query } from "./parameters.ts";

/**
 * The use that commitments and credits cover, by provider, model and day (UTC): those in force between two instants, and all that
 * share use with them. `part`: days are cut where one begins or ends. `usd`: the use of the part; `whole`: that of the day. `paid`: what
 * was paid for its time from where single records are kept until the end of the day's month, or until now; `worth` null: it covers all.
 */
export function commitmentsQuery(
  orgId: string,
  { fromMs, toMs, ...known }: { fromMs: number; toMs: number } & AsOf,
): Query {
  const params = parameters();
  const org = params.add(orgId, "text");
  const from = `date_trunc('day', ${params.instant(fromMs)} at time zone 'UTC') at time zone 'UTC'`;
  const text = `with recursive c as (
    select * from commitments where org_id = ${org} and effective_from < ${params.instant(toMs)} and effective_to > ${from}
    union select k.* from commitments k join c on k.org_id = c.org_id and k.provider = c.provider
      and k.effective_from < c.effective_to and k.effective_to > c.effective_from
  ), u as (
    select q.provider, coalesce(q.response_model, q.model) as model, (q.started_at at time zone 'UTC')::date as day,
      width_bucket(q.started_at, array(select distinct unnest(array[effective_from, effective_to]) from c order by 1)) as part,
      min(q.started_at) as at, sum(q.cost_usd) as usd
    from ${callsAsOf(known, params) ?? "requests"} q
    where q.org_id = ${org} and q.provider in (select provider from c) and q.channel <> 'subscription'
      and q.started_at >= (select date_trunc('day', min(effective_from), 'UTC') from c)
      and q.started_at < (select date_trunc('day', max(effective_to), 'UTC') + interval '1 day' from c)
    group by 1, 2, 3, 4
  )
  select c.id, u.provider, u.model, u.day::text as day, u.part::text as part, u.usd::text as usd, u.whole::text as whole,
    (case when w.worth is null then c.amount_usd * greatest(0, extract(epoch from
      least(now(), c.effective_to, (date_trunc('month', u.day::timestamp) + interval '1 month') at time zone 'UTC')
      - greatest(c.effective_from, (select raw_from from rollup_state where org_id = ${org})))
      / extract(epoch from c.effective_to - c.effective_from))::numeric(40,30) else c.amount_usd end)::text as paid, w.worth::text as worth
  from (select *, sum(usd) over (partition by provider, model, day) as whole from u) u
    join c on u.provider = c.provider and u.at >= c.effective_from and u.at < c.effective_to
      and (c.models is null or u.model like any (
        select replace(replace(replace(m, '\\', '\\\\'), '_', '\\_'), '*', '%') from unnest(c.models) m)),
    lateral (select coalesce(c.worth_usd, case c.kind when 'credit' then c.amount_usd end) as worth) w
  where u.usd > 0 order by w.worth is not null, c.effective_to, c.effective_from, c.id, u.day, u.part`;
  return { text, params: params.values };
}

type Cell = { row: AnswerRow; usd: Exact; left: Exact; effective: Exact };

/**
 * Each dollar of use is covered once: by commitments that cover all of their time, then by the worth that ends first, day by day. What
 * is paid for time is spread over the use of its month, or of the next one that has some, so that months that are over stay as they are.
 * `rows`: of `commitmentsQuery`, in its order.
 * @returns what each commitment covered, by its id, and what calls of a day cost by what was paid, for each dollar of their cost
 */
export function coveredBy(rows: readonly AnswerRow[]): { covered: Map<string, Exact>; factors: AnswerRow[] } {
  const cells = new Map<string, Cell>();
  const cellOf = (row: AnswerRow): Cell => {
    const key = JSON.stringify([row["provider"], row["model"], row["day"], row["part"]]);
    const usd = exact(row["usd"]);
    const cell = cells.get(key) ?? { row, usd, left: usd, effective: ZERO };
    cells.set(key, cell);
    return cell;
  };
  const covered = new Map<string, Exact>();
  for (const [id, own] of Map.groupBy(rows, (row) => row["id"] ?? "")) {
    const uses = own.map((row) => ({ cell: cellOf(row), paid: exact(row["paid"]) }));
    const worth = own[0]?.["worth"];
    covered.set(id, worth == null ? spreadByMonth(uses) : usedUp(uses, exact(worth)));
  }
  const dayOf = ({ row }: Cell) => JSON.stringify([row["provider"], row["model"], row["day"]]);
  const factors = [...Map.groupBy(cells.values(), dayOf).values()].map((those): AnswerRow => {
    const row = those[0]?.row;
    const whole = exact(row?.["whole"]);
    const change = exactSum(those.map(({ usd, left, effective }) => difference(plus(effective, left), usd)));
    return { ...row, factor: formatDecimal(decimalQuotient(plus(whole, change), whole)) };
  });
  return { covered, factors };
}

type Use = { cell: Cell; paid: Exact };

const grouped = (uses: readonly Use[], length: number) =>
  Map.groupBy(uses, ({ cell }) => cell.row["day"]?.slice(0, length)).values();

/** What is paid for time, until the end of each month, over the use of that month. Several may be paid for the same use. */
function spreadByMonth(uses: readonly Use[]): Exact {
  let spent = ZERO;
  for (const those of grouped(uses, "2026-11".length)) {
    const until = those[0]?.paid ?? ZERO;
    const all = exactSum(those.map(({ cell }) => cell.usd));
    for (const { cell } of those) {
      cell.left = ZERO;
      cell.effective = plus(cell.effective, share(difference(until, spent), cell.usd, all));
    }
    spent = until;
  }
  return exactSum(uses.map(({ cell }) => cell.usd));
}

/** A worth, day by day, over what nothing else covers yet. */
function usedUp(uses: readonly Use[], worth: Exact): Exact {
  let room = worth;
  for (const those of grouped(uses, "2026-11-28".length)) {
    const most = exactSum(those.map(({ cell }) => cell.left));
    const taken = isOver(room, most) ? most : room;
    room = difference(room, taken);
    for (const { cell, paid } of those) {
      const usd = share(taken, cell.left, most);
      cell.left = difference(cell.left, usd);
      cell.effective = plus(cell.effective, share(paid, usd, worth));
    }
  }
  return difference(worth, room);
}

const exact = (text: string | null | undefined): Exact => parseDecimal(text ?? "0");
const share = (usd: Exact, part: Exact, whole: Exact): Exact =>
  isZero(whole) ? ZERO : decimalQuotient(product(usd, part), whole);
