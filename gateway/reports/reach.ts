import type { DimensionName, MeasureName, Spec } from "#shared/report.ts";
import { hasWholeHours } from "#shared/time-zone.ts";
import { refuse } from "../errors.ts";
import { isInCells } from "./aggregates.ts";
import type { AnswerRow } from "./assemble.ts";
import { LEVELS } from "./buckets/columns.ts";
import { bucketKindOf, needsHours } from "./buckets/figures.ts";
import { bucketsOf, coverIn, publishedQuery, type WantedSums } from "./buckets/published.ts";
import { type Ask, isZoned, NO_TASKS } from "./context.ts";
import { hasCells, UTC } from "./dimensions.ts";
import { type Engine, POSTGRES } from "./engines.ts";
import { asksForExplanation, knownPlacesOf, placesQuery } from "./explained.ts";
import { aggregatesOf } from "./measures.ts";
import { tasksOf, tasksQuery } from "./outcomes.ts";
import { parameters, type Query } from "./parameters.ts";
import type { Reach } from "./rollup/cover.ts";
import { isDropped, reachOf, surveyQuery } from "./rollup/survey.ts";
import { filtersOf } from "./spec.ts";
import { isSpread, spreadFor } from "./spread.ts";
import type { Period, Periods } from "./window.ts";

/** The database that answers an ask: records that ClickHouse no longer has are read from Postgres. */
export const recordsOf = ({ records, postgres }: Databases, { engine }: Pick<Ask, "engine">): AskDatabase =>
  engine === POSTGRES ? postgres : records;

/** Answers one statement of a report; `pages`: a page at a time, as fast as they are taken. */
export type AskDatabase = {
  (query: Query): Promise<readonly AnswerRow[]>;
  pages?: (query: Query) => AsyncIterable<readonly AnswerRow[]>;
};

/** What is asked of: the database of records, and Postgres, which knows everything else. */
export type Databases = { engine: Engine; records: AskDatabase; postgres: AskDatabase };

/** ClickHouse's seconds end in 2106. */
const EVER: Period = { fromMs: null, toMs: Date.UTC(2100, 0) };
/** Of all records. */
export const ALL_TIME: Periods = { current: EVER, previous: null };

/** `single`: what needs single records beside the words of the spec, as refusals call it. */
type Asked = Pick<Ask, "orgId" | "spec" | "periods" | "timeZone" | "asOfMs"> & { single?: string };

/** What a statement has to know beforehand: how far rollups reach, and the sessions of outcomes. */
export async function knownIn(
  databases: Databases,
  asked: Asked,
  rollupsFrom: number,
): Promise<Pick<Ask, "engine" | "reach" | "published" | "tasks" | "places" | "spread">> {
  const { engine, postgres } = databases;
  const spread = isSpread(asked.spec) ? { spread: await spreadFor(postgres, asked) } : {};
  const tasks = asked.spec.source === "outcomes" ? tasksOf(await postgres(tasksQuery(asked))) : NO_TASKS;
  const records = engine === POSTGRES ? null : await inClickHouse(databases, asked);
  if (records === null) {
    const reach = await reachIn(postgres, { ...asked, rollupsFrom });
    return { engine: POSTGRES, reach, published: null, tasks, places: null, ...spread };
  }
  const explains = asksForExplanation(asked.spec);
  const places = explains ? knownPlacesOf(await postgres(placesQuery(asked.orgId))) : null;
  return { engine, reach: null, ...records, tasks, places, ...spread };
}

const DROPPED = `select (extract(epoch from raw_from) * 1000)::bigint::text as dropped,
  (select (extract(epoch from sums_from) * 1000)::bigint::text from clickhouse_state c where c.org_id = s.org_id) as sums
from rollup_state s where raw_from is not null and org_id = `;

/**
 * What ClickHouse has of a report's periods; null if Postgres must answer: single records were dropped that the report needs.
 */
async function inClickHouse(
  { postgres, records }: Databases,
  asked: Asked,
): Promise<Pick<Ask, "published"> | null> {
  const { orgId, spec, periods } = asked;
  const params = parameters();
  const [row] = await postgres({ text: DROPPED + params.add(orgId, "text"), params: params.values });
  const droppedMs = row ? Number(row["dropped"]) : null;
  const all = [periods.current, ...(periods.previous ? [periods.previous] : [])];
  const reachesTo = (ms: number) => all.some(({ fromMs }) => fromMs === null || fromMs < ms);
  const isDropped =
    droppedMs !== null &&
    (spec.source === "outcomes" || (spec.source === "requests" && reachesTo(droppedMs)));
  const wanted = sumsFor(asked, isDropped);
  const isTooEarly = spec.source === "requests" && row?.["sums"] && reachesTo(Number(row["sums"]));
  const buckets = wanted === null || isTooEarly ? null : bucketsOf(await records(publishedQuery(wanted)));
  if (wanted === null || buckets === null) return isDropped ? null : { published: null };
  const { hoursAlone } = wanted;
  const published = { buckets, droppedMs: spec.source === "requests" ? droppedMs : null, hoursAlone };
  return all.every((period) => coverIn(period, published) !== null) ? { published } : null;
}

/** The sums that answer; null: none do. Sessions of outcomes ran at any time. */
function sumsFor({ orgId, spec, periods, timeZone, single }: Asked, isDropped: boolean): WantedSums | null {
  if (periods === ALL_TIME || single !== undefined || !cutsAtHours(timeZone, periods)) return null;
  const isOfSessions = spec.source === "outcomes" && !isDropped;
  const kind = isOfSessions ? "cells" : bucketKindOf(spec, aggregatesOf(spec.measures));
  if (kind === null) return null;
  return {
    orgId,
    periods: isOfSessions ? ALL_TIME : periods,
    levels: LEVELS[spec.source === "tool_calls" ? "tool_calls" : "requests"],
    hoursAlone: !isOfSessions && needsHours(spec, timeZone),
    cells: kind === "cells",
  };
}

/** How far rollups reach; null where single records are read. Sessions of outcomes ran at any time. */
async function reachIn(database: AskDatabase, asked: Asked & { rollupsFrom: number }): Promise<Reach | null> {
  const { orgId, spec, periods, timeZone, rollupsFrom } = asked;
  if (spec.source !== "requests" && spec.source !== "outcomes") return null;
  const isOfRecords = spec.source === "requests";
  const survey = await database(surveyQuery(orgId, isOfRecords ? periods : ALL_TIME, rollupsFrom));
  if (asked.asOfMs !== undefined) return refuseDropped(survey, NO_VERSIONS);
  const reach = reachOf(survey, rollupsFrom);
  const unsummed = isOfRecords && reach !== null ? (asked.single ?? unsummedOf(spec)) : undefined;
  if (unsummed !== undefined) {
    // Coverage is asked of all time, and tells what is left.
    if (isDropped(survey) && periods !== ALL_TIME) {
      const when = "is computed from single records, and those of a part of the range are no longer kept";
      refuse(`${unsummed}: ${when}`);
    }
    return null;
  }
  if (!isOfRecords || reach === null || cutsAtHours(timeZone, periods)) return reach;
  // Sums know no part of an hour.
  refuseDropped(survey, OFF_THE_HOUR);
  return isZoned(asked) ? null : reach;
}

/** Single records are read. @throws GatewayError if some of them are no longer kept. */
function refuseDropped(survey: readonly AnswerRow[], reason: string): null {
  if (isDropped(survey)) refuse(reason);
  return null;
}

/** A word asked for that sums do not know. */
function unsummedOf({ dimensions, filters, measures }: Spec): DimensionName | MeasureName | undefined {
  const asked = [...dimensions, ...filtersOf(filters).map(([name]) => name)];
  return (
    asked.find((name) => !hasCells(name)) ??
    measures.find((name) => aggregatesOf([name]).some((of) => !isInCells(of)))
  );
}

const NO_VERSIONS = "as_of: single records of these days are no longer kept";
const OFF_THE_HOUR =
  "time_zone: differs from UTC by part of an hour, and single records of these days are no longer kept";

/** Whether days of the zone begin at whole hours of UTC, in all of the periods. No record is older than the gateway. */
function cutsAtHours(timeZone: string, { current, previous }: Periods): boolean {
  const fromMs = Math.min(current.fromMs ?? FIRST_MS, previous?.fromMs ?? current.fromMs ?? FIRST_MS);
  return timeZone === UTC || hasWholeHours(timeZone, Math.max(fromMs, FIRST_MS), current.toMs);
}
const FIRST_MS = Date.UTC(2020, 0);
