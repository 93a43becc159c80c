import type { Context } from "./context.ts";
import { ofSessions, usedSums } from "./parts.ts";
import { countedOf } from "./several.ts";
import { overRecords } from "./sums.ts";

/** What facts carry beside what tells them apart. */
export type Carried = {
  name: string;
  /** Of a cell. */
  one: string;
  /** Of several as one. */
  all: string;
  /** Of single records `r`, with its name. */
  records: string;
};

const sum = (name: string, one: string, records: string): Carried => ({
  name,
  one,
  all: `sum(${one})`,
  records: `${records} as ${name}`,
});

const OF_SESSIONS = sum(
  "session_cost_usd",
  "case when session is not null then cost_usd end",
  "sum(r.cost_usd) filter (where r.session is not null)",
);

/** The sums that are asked for, how many sessions and hours cells count for (those of days alone do), and their persons. */
export function carriedBy({ columns, counting, people }: Context, isDay: boolean): Carried[] {
  return [
    ...usedSums(columns).map((name) => ({ ...sum(name, name, ""), records: overRecords(name) })),
    ...(ofSessions(columns) ? [OF_SESSIONS] : []),
    ...(counting === null
      ? []
      : countedOf(isDay ? counting : null).map(([name, sql]) => sum(name, sql, "0"))),
    ...(people === null
      ? []
      : [{ name: "people", one: "bits", all: "bit_or(bits)", records: "bit_or(bits) as people" }]),
  ];
}
