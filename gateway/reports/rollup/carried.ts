import type { Context } from "./context.ts";
import { keySql } from "./keys.ts";
import { ofSessions, usedSums } from "./parts.ts";
import { countedOf } from "./several.ts";
import { overRecords } from "./sums.ts";

/** What facts carry beside what tells them apart. */
type Carried = {
  name: string;
  type: string;
  /** Of a cell. */
  one: string;
  /** Of several as one. */
  all: string;
  /** Of single records `r`, with its name. */
  records: string;
};

const sum = (name: string, one: string, records: string): Carried => ({
  name,
  type: "numeric",
  one,
  all: `sum(${one})`,
  records: `${records} as ${name}`,
});

const OF_SESSIONS = sum(
  "session_cost_usd",
  "case when session is not null then cost_usd end",
  "sum(r.cost_usd) filter (where r.session is not null)",
);

/** Persons, as bits. */
const PEOPLE: Carried = {
  name: "people",
  type: "bit",
  one: "bits",
  all: "bit_or(bits)",
  records: "bit_or(bits) as people",
};

/** The persons of single records, who count where these are not `told` of by sums (listed.ts). */
const persons = (told: boolean): Carried => ({
  name: "persons",
  type: "text[]",
  one: "null::text[]",
  all: "null::text[]",
  records: `${told ? "null::text[]" : `array_agg(${keySql("person", "r.")})`} as persons`,
});

/**
 * The sums that are asked for, how many sessions and hours cells count for (`isDay`: those of days alone do), and their
 * persons; `told`: of single records whose persons sums tell of.
 */
export function carriedBy(
  { columns, counting, people, listed }: Context,
  { isDay = false, told = false }: { isDay?: boolean; told?: boolean } = {},
): Carried[] {
  return [
    ...usedSums(columns).map((name) => ({ ...sum(name, name, ""), records: overRecords(name) })),
    ...(ofSessions(columns) ? [OF_SESSIONS] : []),
    ...(counting === null
      ? []
      : countedOf(isDay ? counting : null).map(([name, sql]) => sum(name, sql, "0"))),
    ...(people === null ? [] : [PEOPLE]),
    ...(listed ? [persons(told)] : []),
  ];
}
