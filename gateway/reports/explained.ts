import { makerOf } from "#drizzle/session-links.ts";
import { placeNumber, placesTables } from "#drizzle/session-places.ts";
import { EXPLANATIONS } from "#shared/explanation.ts";
import type { Spec } from "#shared/report.ts";
import type { AnswerRow } from "./assemble.ts";
import type { Engine } from "./engines.ts";
import { type Parameters, parameters, type Query } from "./parameters.ts";

// Whether a pull request explains a call, and why not: by its session and whoever made it, and, where contexts divide these, by
// the stretch that it belongs to.

export const asksForExplanation = ({ dimensions, filters }: Pick<Spec, "dimensions" | "filters">): boolean =>
  dimensions.includes("explanation") || filters.explanation !== undefined;

/** Ids of an agent's, in the order in which its contexts cover a call. */
const AGENTS = ["r.agent_session", "r.parent_session", "r.session"] as const;

/** The text of the dimension over a record `r` that is joined as in `explanationRows`. */
export const explanationText = ({ valueSince }: Engine): string => {
  const stretches = AGENTS.map((_, i) => valueSince(`z${i}.places`, `z${i}.since`, "r.started_at"));
  return `case when r.session is null then 'no_session' else case
    coalesce(${stretches.join(", ")}, y.place, x.place, ${placeNumber("no_pull_request")})${EXPLANATIONS.map(
      (name, place) => ` when ${place} then '${name}'`,
    ).join("")} end end`;
};

const COLUMNS = ["session", "declarer", "agent", "since", "places"] as const;

/** What Postgres knows of sessions, for the records of another engine: lists of places, and since when each holds. */
export function placesQuery(orgId: string): Query {
  const params = parameters();
  const text = `with ${placesTables(params.add(orgId, "text"))}
select session, coalesce(declarer, '') as declarer, coalesce(agent, '') as agent,
  to_json(array_agg(coalesce((extract(epoch from since) * 1000)::bigint, 0) order by since))::text as since,
  to_json(array_agg(place order by since))::text as places
from places group by 1, 2, 3`;
  return { text, params: params.values };
}

/** What `placesQuery` answers: lists by column. */
export type KnownPlaces = Record<(typeof COLUMNS)[number], readonly string[]>;
export const knownPlacesOf = (rows: readonly AnswerRow[]): KnownPlaces => {
  const list = (name: string) => rows.map((row) => row[name] ?? "");
  return {
    session: list("session"),
    declarer: list("declarer"),
    agent: list("agent"),
    since: list("since"),
    places: list("places"),
  };
};

type Asked = { engine: Engine; orgId: string; places: KnownPlaces | null };

/** Tables of a statement with the explanations of sessions: by their name, by who made the calls, and by stretch. */
export function explanationTables({ engine, orgId, places }: Asked, params: Parameters): string[] {
  const once = engine.table(true);
  const isOf = (agent: "=" | "<>") => `declarer <> '' and agent ${agent} ''`;
  const known = places
    ? [
        `known_places as (select session, declarer, agent, ${engine.integers("since")} as since, ${engine.integers("places")} as places
  from (${engine.rowsOf(Object.fromEntries(COLUMNS.map((name) => [name, params.add(places[name], "text[]")])))}) it)`,
      ]
    : [
        placesTables(params.add(orgId, "text")),
        `known_places as materialized (
  select session, coalesce(declarer, '') as declarer, coalesce(agent, '') as agent, array_agg(since order by since) as since,
    array_agg(place order by since) as places
  from places group by 1, 2, 3)`,
      ];
  return [
    ...known,
    `explained as ${once}(select session, places[1] as place from known_places where declarer = '')`,
    `stretched as ${once}(select session, declarer, agent, since, places from known_places where ${isOf("<>")})`,
    `declared as ${once}(select d.session as session, d.declarer as declarer, d.places[1] as place, s.session as split
  from known_places d left join (select distinct session, declarer from stretched) s on s.session = d.session and s.declarer = d.declarer
  where d.${isOf("=")})`,
  ];
}

/** Joins the explanation of a record `r` with `session`, `agent_session`, `parent_session`, `owner` and `key_id`. */
export const EXPLANATION_ROWS = `
  left join explained x on x.session = r.session
  left join declared y on y.session = r.session and y.declarer = ${makerOf("r")}${AGENTS.map(
    (agent, i) => `
  left join stretched z${i} on z${i}.session = y.split and z${i}.declarer = y.declarer and z${i}.agent = ${agent}`,
  ).join("")}`;

/** Whether contexts divide the calls of a row `r`, so that sums of them have no explanation. */
export const IS_DIVIDED = `(coalesce(r.session, ''), coalesce(${makerOf("r")}, '')) in (
      select split, declarer from declared where split is not null)`;
