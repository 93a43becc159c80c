import { bitsOf } from "./bits.ts";
import { carriedBy } from "./carried.ts";
import type { Context } from "./context.ts";
import { type Cover, HOUR_MS, type Span } from "./cover.ts";
import { groupedBy, KEY_TYPES, type Key, keySql } from "./keys.ts";
import { hourBit } from "./kinds.ts";
import { earlySql } from "./picked.ts";
import { boundsSql } from "./spans.ts";

// Single records as cells: those of the hours and edges that no sums tell of.

/** Of records that are told only what tells their `groups` apart is read, and nobody who made them. */
export type Keys = { keys: readonly Key[]; groups: readonly Key[] };

export function recordsOf(
  context: Context,
  { keys, groups }: Keys,
  isCurrent: boolean,
  { raw, told }: Cover,
): string[] {
  const side = { isCurrent, all: keys };
  return [
    ...raw.map((span) => recordsSql(context, keys, { ...side, told: false }, span)),
    ...(told && told.fromMs < told.toMs && context.columns.length > 0
      ? [recordsSql(context, groups, { ...side, told: true }, told)]
      : []),
  ];
}

function recordsSql(
  context: Context,
  keys: readonly Key[],
  { isCurrent, told, all }: { isCurrent: boolean; told: boolean; all: readonly Key[] },
  span: Span,
): string {
  const { ask, params, people } = context;
  const { day, hours, isOne } = timesOf(span);
  const own = carriedBy(context, { told }).map(({ records }) => records);
  const groups = [...keys.map((key) => keySql(key, "r.")), ...(isOne ? [] : [day])];
  const known = all.map(
    (key) => `${keys.includes(key) ? keySql(key, "r.") : `null::${KEY_TYPES[key]}`} as ${key}`,
  );
  const org = params.add(ask.orgId, "text");
  return `
    select ${[`${isCurrent} as current`, `${day} as day`, `${told ? "0" : hours} as hours`, `${told} as told`, `${org} as org_id`, ...known, ...own].join(", ")}
    from requests r${bitsOf(people, keySql("person", "r."), params)}
    where r.org_id = ${org} and ${boundsSql("r.started_at", span, params)}${earlySql({ ask, params }, day)}
    group by ${groupedBy(groups)}`;
}

/** Which day and hours the records of a span are of, and whether all of them are of one. */
function timesOf({ fromMs, toMs }: Span): { day: string; hours: string; isOne: boolean } {
  const hourMs = Math.floor(fromMs / HOUR_MS) * HOUR_MS;
  if (toMs > hourMs + HOUR_MS || !Number.isFinite(hourMs)) {
    const day = "(r.started_at at time zone 'UTC')::date";
    return { day, hours: `bit_or(${hourBit("r.started_at")})`, isOne: false };
  }
  const hour = new Date(hourMs);
  return {
    day: `date '${hour.toISOString().slice(0, 10)}'`,
    hours: `${1 << hour.getUTCHours()}`,
    isOne: true,
  };
}
