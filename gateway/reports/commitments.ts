import {
  decimalQuotient,
  difference,
  type Exact,
  formatDecimal,
  isOver,
  isZero,
  parseDecimal,
  plus,
  product,
  ZERO,
} from "#shared/decimal.ts";
import type { AnswerRow } from "./assemble.ts";
import { parameters, type Query } from "./parameters.ts";

/**
 * The use that commitments and credits may cover, by provider, model and day (UTC): those in force between two instants, and all
 * that share use with them. `usd`: what the commitment may cover; `whole`: all that the calls of that day cost. `paid`: what was paid
 * for its time from where single records are kept until the end of the day's month, or until now; `worth` null: it covers all.
 */
export function commitmentsQuery(orgId: string, { fromMs, toMs }: { fromMs: number; toMs: number }): Query {
  const params = parameters();
  const org = params.add(orgId, "text");
  const from = `date_trunc('day', ${params.instant(fromMs)} at time zone 'UTC') at time zone 'UTC'`;
  const text = `with recursive c as (
    select * from commitments where org_id = ${org} and effective_from < ${params.instant(toMs)} and effective_to > ${from}
    union select k.* from commitments k join c on k.org_id = c.org_id and k.provider = c.provider
      and k.effective_from < c.effective_to and k.effective_to > c.effective_from
  ), u as (
    select c.id, q.provider, coalesce(q.response_model, q.model) as model, (q.started_at at time zone 'UTC')::date as day,
      sum(q.cost_usd) filter (where q.started_at >= c.effective_from and q.started_at < c.effective_to) as usd, sum(q.cost_usd) as whole
    from c join requests q on q.org_id = c.org_id and q.provider = c.provider and q.channel <> 'subscription'
      and q.started_at >= date_trunc('day', c.effective_from at time zone 'UTC') at time zone 'UTC'
      and q.started_at < date_trunc('day', c.effective_to at time zone 'UTC') at time zone 'UTC' + interval '1 day'
      and (c.models is null or coalesce(q.response_model, q.model) like any (
        select replace(replace(replace(m, '\\', '\\\\'), '_', '\\_'), '*', '%') from unnest(c.models) m))
    group by 1, 2, 3, 4
  )
  select c.id, u.provider, u.model, u.day::text as day, u.usd::text as usd, u.whole::text as whole,
    (case when w.worth is null then c.amount_usd * greatest(0, extract(epoch from
      least(now(), c.effective_to, (date_trunc('month', u.day::timestamp) + interval '1 month') at time zone 'UTC')
      - greatest(c.effective_from, (select raw_from from rollup_state where org_id = ${org})))
      / extract(epoch from c.effective_to - c.effective_from))::numeric(40,30) else c.amount_usd end)::text as paid, w.worth::text as worth
  from u join c using (id), lateral (
    select coalesce(c.worth_usd, case c.kind when 'credit' then c.amount_usd end) as worth) w
  where u.usd > 0 order by w.worth is not null, c.effective_to, c.effective_from, c.id, u.day`;
  return { text, params: params.values };
}

type Cell = Record<"provider" | "model" | "day", string> & { whole: Exact; left: Exact; effective: Exact };

/**
 * Each dollar of use is covered once: by commitments that cover all of their time, then by the worth that ends first, day by day. What
 * is paid for time is spread over the use of its month, or of the next one that has some, so that months that are over stay as they are.
 * `rows`: of `commitmentsQuery`, in its order.
 * @returns what each commitment covered, by its id, and what calls of a day cost by what was paid, for each dollar of their cost
 */
export function coveredBy(rows: readonly AnswerRow[]): { covered: Map<string, Exact>; factors: AnswerRow[] } {
  const cells = new Map<string, Cell>();
  const cellOf = ({ provider, model, day, whole }: AnswerRow): Cell => {
    const key = JSON.stringify([provider, model, day]);
    const usd = exact(whole);
    const cell = cells.get(key) ?? {
      ...{ provider: provider ?? "", model: model ?? "", day: day ?? "" },
      ...{ whole: usd, left: usd, effective: ZERO },
    };
    cells.set(key, cell);
    return cell;
  };
  const covered = new Map<string, Exact>();
  for (const [id, own] of Map.groupBy(rows, (row) => row["id"] ?? "")) {
    const uses = own.map((row) => ({ cell: cellOf(row), usd: exact(row["usd"]), paid: exact(row["paid"]) }));
    const worth = own[0]?.["worth"];
    covered.set(id, worth == null ? spreadByMonth(uses) : usedUp(uses, exact(worth)));
  }
  const factors = [...cells.values()].map(({ provider, model, day, whole, left, effective }) => ({
    ...{ provider, model, day },
    factor: formatDecimal(decimalQuotient(plus(effective, left), whole)),
  }));
  return { covered, factors };
}

type Use = { cell: Cell; usd: Exact; paid: Exact };

const grouped = (uses: readonly Use[], length: number) =>
  Map.groupBy(uses, ({ cell }) => cell.day.slice(0, length)).values();

/** What is paid for time, until the end of each month, over the use of that month. Several may be paid for the same use. */
function spreadByMonth(uses: readonly Use[]): Exact {
  let spent = ZERO;
  for (const those of grouped(uses, "2026-11".length)) {
    const until = those[0]?.paid ?? ZERO;
    const all = sumOf(those.map(({ usd }) => usd));
    for (const { cell, usd } of those) {
      cell.left = lesser(cell.left, difference(cell.whole, usd));
      cell.effective = plus(cell.effective, share(difference(until, spent), usd, all));
    }
    spent = until;
  }
  return sumOf(uses.map(({ usd }) => usd));
}

/** A worth, day by day, over what nothing else covers yet. */
function usedUp(uses: readonly Use[], worth: Exact): Exact {
  let room = worth;
  for (const those of grouped(uses, "2026-11-28".length)) {
    const free = those.map(({ cell, usd }) => lesser(usd, cell.left));
    const most = sumOf(free);
    const taken = lesser(room, most);
    room = difference(room, taken);
    for (const [index, { cell, paid }] of those.entries()) {
      const usd = share(taken, free[index] ?? ZERO, most);
      cell.left = difference(cell.left, usd);
      cell.effective = plus(cell.effective, share(paid, usd, worth));
    }
  }
  return difference(worth, room);
}

const exact = (text: string | null | undefined): Exact => parseDecimal(text ?? "0");
const lesser = (a: Exact, b: Exact): Exact => (isOver(a, b) ? b : a);
const sumOf = (values: readonly Exact[]): Exact => values.reduce(plus, ZERO);
const share = (usd: Exact, part: Exact, whole: Exact): Exact =>
  isZero(whole) ? ZERO : decimalQuotient(product(usd, part), whole);
