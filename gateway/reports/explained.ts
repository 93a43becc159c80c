import { makerOf, sessionsOfTasks } from "#drizzle/session-links.ts";
import { EXPLANATIONS, type Explanation } from "#shared/explanation.ts";
import type { Spec } from "#shared/report.ts";
import type { AnswerRow } from "./assemble.ts";
import { type Engine, POSTGRES } from "./engines.ts";
import { type Parameters, parameters, type Query } from "./parameters.ts";

// Whether a pull request explains a call, and why not. Decided for a session and whoever made its calls, when it is asked.

/** The place of an explanation: the first that applies counts. */
const placeOf = (name: Explanation): number => EXPLANATIONS.indexOf(name);

export const asksForExplanation = ({ dimensions, filters }: Pick<Spec, "dimensions" | "filters">): boolean =>
  dimensions.includes("explanation") || filters.explanation !== undefined;

/** The text of the dimension over a record `r` that is joined as in `explanationRows`. */
export const EXPLANATION = `case when r.session is null then 'no_session' else case
    least(coalesce(x.place, ${placeOf("no_pull_request")}), coalesce(y.place, ${placeOf("no_pull_request")}))${EXPLANATIONS.map(
      (name, place) => ` when ${place} then '${name}'`,
    ).join("")} end end`;

/** Sessions that bodies of pull requests name, with the first explanation of each. */
const namedSql = ({ eachItem }: Engine, org: string): string => {
  const ids = eachItem("p.session_ids");
  return `
    select s.session as session, min(s.place) as place from (
      select ${ids.item} as session, case
        when p.merged_at is not null and p.link in ('joined', 'unknown_session') then ${placeOf("joined")}
        when p.link in ('claimed', 'conflict') then ${placeOf("claimed_or_conflict")}
        when p.link = 'open' then ${placeOf("open")}
        when p.link = 'not_merged' then ${placeOf("closed_unmerged")} end as place
      from pull_requests p ${ids.join}
      where p.org_id = ${org}
    ) s where s.place is not null group by s.session`;
};

/** Whether a link or context `l` was declared in a repository that the GitHub App does not see. */
const IS_OUTSIDE = `l.repository is not null and not exists (
      select from repositories p where p.org_id = l.org_id and p.covered
        and (lower(p.full_name) = l.repository or lower(p.former_names::text)::jsonb ? l.repository))`;

/** The same of sessions by declaration, for the calls that their declarer made: linked ones, and those of other repositories. */
const declaredSql = (org: string): string => `
    select d.session, d.declarer, min(d.place) as place from (
      select n.session, n.declarer, t.place
      from (${sessionsOfTasks("explained", org)}) n join explained t on t.session = n.task
      where n.declarer is not null
      union all
      select l.session, l.declarer, ${placeOf("outside_app")} from session_links l
      where l.org_id = ${org} and l.removed_at is null and ${IS_OUTSIDE}
      union all
      select s.session, l.declarer, ${placeOf("outside_app")}
      from session_contexts l join session_stretches s on s.org_id = l.org_id and s.context = l.id
      where l.org_id = ${org} and s.records > 0 and ${IS_OUTSIDE}
    ) d group by d.session, d.declarer`;

/** What Postgres knows of sessions by declaration, for the records of another engine. */
export function declaredQuery(orgId: string): Query {
  const params = parameters();
  const org = params.add(orgId, "text");
  const text = `with explained as materialized (${namedSql(POSTGRES, org)})
select session, declarer, place::text as place from (${declaredSql(org)}) d`;
  return { text, params: params.values };
}

/** What `declaredQuery` answers. */
export type DeclaredPlaces = Record<"sessions" | "declarers" | "places", readonly string[]>;
export const declaredOf = (rows: readonly AnswerRow[]): DeclaredPlaces => {
  const list = (name: string) => rows.map((row) => row[name] ?? "");
  return { sessions: list("session"), declarers: list("declarer"), places: list("place") };
};

type Asked = { engine: Engine; orgId: string; declared: DeclaredPlaces | null };

/** Tables of a statement with the explanations of sessions: by their name, and by who made the calls. */
export function explanationTables({ engine, orgId, declared }: Asked, params: Parameters): string[] {
  const org = params.add(orgId, "text");
  const list = (of: keyof DeclaredPlaces) => params.add(declared?.[of] ?? [], "text[]");
  const once = engine.table(true);
  const byDeclarer = declared
    ? `select session, declarer, it.place::int as place from (${engine.rowsOf({ session: list("sessions"), declarer: list("declarers"), place: list("places") })}) it`
    : declaredSql(org);
  return [`explained as ${once}(${namedSql(engine, org)})`, `declared as ${once}(${byDeclarer})`];
}

/** Joins the explanation of a record `r` with `session`, `owner` and `key_id`. */
export const EXPLANATION_ROWS = `
  left join explained x on x.session = r.session
  left join declared y on y.session = r.session and y.declarer = ${makerOf("r")}`;
