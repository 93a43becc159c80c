import { KIND_NAMES } from "./kinds.ts";
import { COLUMNS, IS_UNPACKED, PACKED } from "./latencies.ts";
import { FORGET_CELLS, ROLL_CELLS, weekOf } from "./roll.ts";

// The statements that make of rows of earlier versions what rows are now. Parameters: $1 is the organisation,
// $2 the day.

const IN_DAY = (column: string): string =>
  `${column} >= $2::date::timestamp at time zone 'UTC' and ${column} < ($2::date + 1)::timestamp at time zone 'UTC'`;

/** So that primary keys find them. */
const OF_KINDS = `kind in (${KIND_NAMES.map((kind) => `'${kind}'`).join(", ")})`;

const pack = (table: string, where: string): string => `
update ${table} set latencies = ${PACKED}, ${COLUMNS.map((name) => `${name} = null`).join(", ")}
where org_id = $1::text and ${where} and ${IS_UNPACKED}`;

/** Those of the day, and of its week. Cells of days are made anew of their hours, and so tell of sessions what they told not. */
export const PACK_DAY: readonly string[] = [
  pack("rollup_hours", IN_DAY("hour")),
  ...FORGET_CELLS,
  ...ROLL_CELLS,
  pack("rollup_hourly", `${OF_KINDS} and ${IN_DAY("hour")}`),
  pack("rollup_quarters", `${OF_KINDS} and ${IN_DAY("at")}`),
  pack("rollup_days", `${OF_KINDS} and day = $2::date`),
  pack("rollup_weeks", `${OF_KINDS} and week = ${weekOf("$2::date")}`),
];
