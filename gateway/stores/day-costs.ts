import { sql } from "drizzle-orm";
import type { Database, Runner } from "#drizzle/database.ts";
import type { ANOMALY_KINDS, Anomalies } from "#shared/admin/forecast.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { AnswerRow } from "../reports/assemble.ts";
import { NO_TASKS } from "../reports/context.ts";
import { UTC } from "../reports/dimensions.ts";
import { POSTGRES } from "../reports/engines.ts";
import {
  anomaliesOf,
  type CostAnomaly,
  type DayCost,
  EXCESS_MIN,
  type Forecast,
  forecastOf,
} from "../reports/forecast.ts";
import { movement } from "../reports/movement.ts";
import { movementOf, movementQuery } from "../reports/movement-query.ts";
import { sent } from "../reports/parameters.ts";
import type { BudgetInForce } from "./budgets.ts";

const IS_OWN = sql`s.org_id = ${DEFAULT_ORG}`;
const DAY = sql`to_char(s.day, 'YYYY-MM-DD') as day, sum(s.usd)::float8 as usd`;

/** What each day of the last 92 cost, as budgets count it: of accounts, by account. */
export async function dayCosts(db: Runner, accounts: readonly string[]): Promise<Map<string, DayCost[]>> {
  if (accounts.length === 0) return new Map();
  const rows = await db.execute<DayCost & { account: string }>(sql`
    select s.key_id as account, ${DAY} from key_spend s
    where ${IS_OWN} and s.key_id = any(${sql.param([...accounts])}::uuid[]) group by s.key_id, s.day order by s.day`);
  return Map.groupBy(rows, ({ account }) => account);
}

export const allDayCosts = async (db: Runner): Promise<DayCost[]> => [
  ...(await db.execute<DayCost>(sql`
    select ${DAY} from key_spend s where ${IS_OWN} and s.key_id in (select id from keys where org_id = ${DEFAULT_ORG})
    group by s.day order by s.day`)),
];

/** Budgets with what their current period will have cost at its end; null: too few days are known. */
export async function budgetForecasts(
  db: Runner,
  budgets: readonly BudgetInForce[],
  now: Date,
): Promise<(BudgetInForce & { forecast: Forecast | null })[]> {
  const days = await dayCosts(
    db,
    budgets.map(({ account }) => account),
  );
  const today = now.toISOString().slice(0, 10);
  return budgets.map((budget) => {
    const known = budget.period === "day" ? [] : (days.get(budget.account) ?? []);
    return { ...budget, forecast: forecastOf(known, { ...budget.dates, today }) };
  });
}

export type NamedAnomaly = CostAnomaly & {
  kind: (typeof ANOMALY_KINDS)[number];
  name: string;
  /** Its team and those above; null: it is of no team. */
  team: string | null;
};

type NamedDay = DayCost & Pick<NamedAnomaly, "kind" | "name" | "team">;

/** Anomalies of teams, keys and models since a day. Models are known by whole days. */
export async function costAnomalies(db: Runner, from: string): Promise<NamedAnomaly[]> {
  // What cost little on every day since has none, and is most of what there is.
  const isDear = sql`s.key_id in (select d.key_id from key_spend d
    where d.org_id = ${DEFAULT_ORG} and d.day >= ${from}::text::date and d.usd >= ${EXCESS_MIN})`;
  const rows = await db.execute<NamedDay>(sql`
    select 'team' as kind, t.name, t.name as team, ${DAY}
    from key_spend s join teams t on t.org_id = s.org_id and md5('team ' || t.name)::uuid = s.key_id
    where ${IS_OWN} and ${isDear} group by t.name, s.day
    union all select 'key', k.name, k.team, ${DAY}
    from key_spend s join keys k on k.org_id = s.org_id and k.id = s.key_id
    where ${IS_OWN} and ${isDear} and k.revoked_at is null group by k.name, k.team, s.day
    union all select 'model', s.value, null, to_char(s.at at time zone 'UTC', 'YYYY-MM-DD'), sum(s.cost_usd)::float8
    from rollup_sums s
    where ${IS_OWN} and s.kind = 'model' and s.scope = '' and s.grain = 'day' and s.channel <> 'subscription'
      and s.at > now() - interval '120 days' and s.value <> '' and s.cost_usd is not null
    group by s.value, s.at
    order by 1, 2, 4`);
  const series = Map.groupBy(rows, ({ kind, name }) => `${kind} ${name}`);
  return [...series.values()].flatMap((days) => {
    const [{ kind, name, team } = { kind: "team" as const, name: "", team: null }] = days;
    return anomaliesOf(days, from).map((anomaly) => ({ ...anomaly, kind, name, team }));
  });
}

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;

/** What moved the cost of an unusual day since a week before, by the prices of single records; null without single records. */
export async function whyUnusual(
  { sql: one }: Pick<Database, "sql">,
  { kind, name, day }: Pick<NamedAnomaly, "kind" | "name" | "day">,
): Promise<Anomalies["data"][number]["rate_mix_volume"]> {
  const dayAt = (fromMs: number) => ({ fromMs, toMs: fromMs + DAY_MS });
  const [current, previous] = [dayAt(Date.parse(day)), dayAt(Date.parse(day) - WEEK_MS)];
  const since = new Date(previous.fromMs).toISOString().slice(0, 10);
  const [dropped] =
    await one`select 1 from rollup_state where org_id = ${DEFAULT_ORG} and raw_from > ${since}::timestamptz`;
  if (dropped) return null;
  const query = movementQuery({
    engine: POSTGRES,
    orgId: DEFAULT_ORG,
    timeZone: UTC,
    byOwner: false,
    tasks: NO_TASKS,
    places: null,
    reverted: [],
    reach: null,
    published: null,
    periods: { current, previous },
    spec: {
      source: "requests",
      dimensions: [],
      measures: ["cost_usd"],
      filters: { [kind]: [name] },
      range: { from: since, to: day },
      compare: "previous_period",
      view: "table",
    },
  });
  const answer = await one.unsafe<AnswerRow[]>(query.text, sent(query));
  const { rows, totals } = movementOf(answer);
  if (rows.length === 0) return null;
  const { delta_usd, volume, mix, rate } = movement(rows, totals);
  return { since, delta_usd, volume, mix, rate };
}
