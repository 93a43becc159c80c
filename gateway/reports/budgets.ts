import { PERIODS, type PeriodName } from "#shared/admin/budgets.ts";
import { parseDecimal } from "#shared/decimal.ts";
import type { DimensionName, Spec } from "#shared/report.ts";
import { instantOfDay, localMs } from "#shared/time-zone.ts";
import type { AnswerRow, BudgetOf, RowBudgets } from "./assemble.ts";
import { isBudget } from "./measures.ts";
import { parameters, type Query } from "./parameters.ts";
import { filtersOf } from "./spec.ts";
import type { Moment, Period, Periods } from "./window.ts";

const NONE: BudgetOf = () => null;
/** What budgets may be on, by the dimension that shows it. */
const KINDS: Partial<Record<DimensionName, string>> = {
  team: "team",
  subject: "person",
  key: "key",
  route: "route",
  tag: "tag",
};

type Postgres = (query: Query) => Promise<readonly AnswerRow[]>;
type Asked = { spec: Spec; periods: Periods };
type Reading = Required<Moment> & { orgId: string };

/** The budgets of reports' rows, where their windows are a budget's period or the part of it up to now; null: they are not. */
export const budgetsFor = (postgres: Postgres, asked: readonly Asked[], how: Reading) =>
  Promise.all(asked.map((one) => budgetsOf(postgres, one, how)));

async function budgetsOf(
  postgres: Postgres,
  { spec, periods }: Asked,
  { orgId, ...moment }: Reading,
): Promise<RowBudgets | null> {
  const period = spec.measures.some(isBudget) ? periodIn(spec, periods.current, moment) : null;
  if (period === null) return null;
  const rows = await postgres(budgetsQuery(orgId, period));
  const found = new Map(rows.map((row) => [`${row["kind"]} ${row["id"]}`, row]));
  const current: BudgetOf = (groups) => {
    const thing = thingIn(spec, groups);
    const row = thing && found.get(`${thing.kind} ${thing.id}`);
    if (!row) return null;
    return { usd: parseDecimal(row["usd"] ?? "0"), isWhole: thing.withBelow || row["above"] === null };
  };
  const before = periods.previous;
  const endMs = before?.fromMs == null ? null : endOf(period, before.fromMs, moment.timeZone);
  return { current, previous: before && endMs !== null && before.toMs <= endMs ? current : NONE };
}

/** What a row is of; null: nothing that has a budget, or a part of it. No groups: everything that is asked for. */
function thingIn({ dimensions, filters }: Spec, [group, ...others]: readonly string[]) {
  const chosen = filtersOf(filters);
  const [name = dimensions[0], values = []] = chosen[0] ?? [];
  if (chosen.length > 1 || others.length > 0) return null;
  const [value, ...more] = new Set(values);
  if (group === undefined) {
    if (chosen.length === 0) return { kind: "organisation", id: "", withBelow: true };
    return more.length > 0 ? null : named(name, value, true);
  }
  // A record that was chosen for one of its tags is in the groups of all of them.
  const isPart = name !== dimensions[0] || (name === "tag" && chosen.length > 0 && !values.includes(group));
  return isPart ? null : named(name, group, false);
}

function named(name: DimensionName | undefined, id = "", withBelow: boolean) {
  const kind = name && KINDS[name];
  return kind ? { kind, id: kind === "person" ? id.toLowerCase() : id, withBelow } : null;
}

function periodIn({ range }: Spec, { fromMs, toMs }: Period, { now, timeZone }: Required<Moment>) {
  if (typeof range === "string") return range === "mtd" || range === "last_month" ? "month" : null;
  if (fromMs === null) return null;
  const isOne = (name: PeriodName) => {
    const endMs = endOf(name, fromMs, timeZone);
    return toMs === endMs || (endMs !== null && toMs >= now.getTime() && toMs < endMs);
  };
  return PERIODS.find(isOne) ?? null;
}

/** When the period ends that begins at an instant; null: none begins then. */
function endOf(period: PeriodName, fromMs: number, timeZone: string): number | null {
  const at = new Date(localMs(fromMs, timeZone));
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  if (instantOfDay(Date.UTC(year, month, day), timeZone) !== fromMs) return null;
  const ends = {
    day: Date.UTC(year, month, day + 1),
    week: at.getUTCDay() === 1 ? Date.UTC(year, month, day + 7) : null,
    month: day === 1 ? Date.UTC(year, month + 1) : null,
    quarter: day === 1 && month % 3 === 0 ? Date.UTC(year, month + 3) : null,
  };
  const endMs = ends[period];
  return endMs === null ? null : instantOfDay(endMs, timeZone);
}

/** The smallest budget of a period on each thing. `above`: teams count in it that are below it. */
function budgetsQuery(orgId: string, period: PeriodName): Query {
  const params = parameters();
  const org = params.add(orgId, "text");
  const text = `with b as (
    select 'team' as kind, name as id, coalesce(budget_period, 'month') as period, budget_usd as usd
    from teams where org_id = ${org} and budget_usd is not null
    union all select 'person', lower(email), coalesce(budget_period, 'month'), budget_usd
    from people where org_id = ${org} and budget_usd is not null and not disabled
    union all select 'key', name, coalesce(limits ->> 'budget_period', 'month'), (limits ->> 'budget_usd')::numeric
    from keys where org_id = ${org} and limits ? 'budget_usd' and not own and revoked_at is null
      and (expires_at is null or expires_at > now())
    union all select b.kind, case b.kind when 'person' then lower(b.scope_id) else coalesce(k.name, b.scope_id, '') end,
      b.period, b.amount_usd
    from budgets b left join keys k on b.kind = 'key' and k.org_id = b.org_id and k.id = b.account where b.org_id = ${org}
  )
  select b.kind, b.id, min(b.usd)::text as usd, min(t.parent) as above
  from b left join teams t on b.kind = 'team' and t.org_id = ${org} and t.parent = b.id
  where b.period = ${params.add(period, "text")} group by 1, 2`;
  return { text, params: params.values };
}
