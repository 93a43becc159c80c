import type { DimensionName } from "#shared/report.ts";
import { DIMENSION, filterSql } from "../dimensions.ts";
import { asksForLane, filtersOf } from "../spec.ts";
import { type Context, OF_DAY } from "./context.ts";
import { KINDS, TAG_ROWS } from "./kinds.ts";
import { spansSql, withinSql } from "./spans.ts";
import { BUCKET_SQL, SUM_NAMES, SUMS } from "./sums.ts";

const groupSql = (name: DimensionName): string => OF_DAY[name] ?? DIMENSION[name].sql;

/** Cells of hours, and single records as cells of one, outside the whole days that are read as such. */
export function factsSql({ ask, dimensions, params, kind, covers, buckets }: Context): string {
  const [d1 = "''", d2 = "''"] = dimensions.map(groupSql);
  const filters = filtersOf(ask.spec.filters);
  const both = [covers.current, ...(covers.previous ? [covers.previous] : [])];
  const org = params.add(ask.orgId, "text");
  const cells = `
    select h.org_id, h.hour as started_at, h.hour, h.day, ${KEYS}, ${SUM_NAMES.join(", ")}, ${buckets.map((name) => `${name}, `).join("")}
      case when h.session is not null then h.cost_usd end as session_cost_usd
    from rollup_hours h where h.org_id = ${org} and (${spansSql(
      "h.hour",
      both.flatMap(({ hours }) => hours),
      params,
    )})`;
  const ones = SUM_NAMES.map((name) => `${oneSql(name)} as ${name}`);
  const bits = buckets.map((name, i) => `case when r.bucket = ${i} then 1 end as ${name}, `);
  const bucket = buckets.length > 0 ? `, ${BUCKET_SQL} as bucket` : "";
  const records = `
    select r.org_id, r.started_at, date_trunc('hour', r.started_at, 'UTC'), (r.started_at at time zone 'UTC')::date,
      ${KEYS}, ${ones.join(", ")}, ${bits.join("")}
      case when r.session is not null then r.cost_usd end
    from (select r.*${bucket} from requests r where r.org_id = ${org} and (${spansSql(
      "r.started_at",
      both.flatMap(({ raw }) => raw),
      params,
    )})) r`;
  const conditions = filters.map(([name, values]) => `and ${filterSql(name, params.add(values, "text[]"))}`);
  return `
  select ${withinSql("r.started_at", ask.periods.current, params)} as current, (${d1})::text collate "C" as d1,
    (${d2})::text collate "C" as d2, ${kind ? `(${KINDS[kind]})::text as value` : "null::text as value"},
    ${asksForLane(ask.spec) ? "true" : "r.channel <> 'subscription'"} as billed,
    r.day, r.hour, r.person, r.run, r.session_cost_usd, ${[...SUM_NAMES, ...buckets].map((name) => `r.${name}`).join(", ")}
  from (
    select u.*, coalesce(u.user_label, u.owner) as person, u.session as run, true as attributed
    from (${cells}
    union all${records}
    ) u
  ) r
  left join keys k on k.org_id = r.org_id and k.id = r.key_id${dimensions.includes("tag") ? `\n  ${TAG_ROWS}` : ""}
  where true ${conditions.join("\n    ")}
`;
}

const KEYS = "channel, client, model, route, owner, user_label, key_id, session, tags";

const oneSql = (name: keyof typeof SUMS): string => {
  const { one, type } = SUMS[name];
  return type === "numeric" ? one : `coalesce(${one}, 0)::${type}`;
};
