import type { DimensionName } from "#shared/report.ts";
import { DIMENSION, TAGS } from "../dimensions.ts";

/**
 * The dimensions that whole days are summed up by. `value` is what tells a cell's or a record's (`r`) groups apart; of
 * `tag` there are several (`t.tag`). A key is told by its id, because its name may change.
 */
export const KINDS = {
  total: "''::text",
  client: DIMENSION.client.sql,
  model: DIMENSION.model.sql,
  route: DIMENSION.route.sql,
  subject: DIMENSION.subject.sql,
  key: "r.key_id::text",
  channel: DIMENSION.channel.sql,
  tag: "t.tag",
} as const satisfies Partial<Record<DimensionName | "total", string>>;

export type Kind = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as Kind[];

export const isKind = (name: string): name is Kind => Object.hasOwn(KINDS, name);

/** Those of few values, whose hours are summed up by quarters, too. None needs rows of tags. */
export const QUARTER_KINDS: readonly Kind[] = ["total", "client", "model", "route", "channel"];

/** One row for each distinct tag of `r`; few have the same twice, and telling these apart by hash costs more for each row. */
export const TAG_ROWS = `cross join lateral (
    select tag from (select unnest(${TAGS}) as tag, generate_subscripts(${TAGS}, 1) as place) u
    where array_position(${TAGS}, tag) = place) t`;

/** A person or session within a value of a kind: a hash of all that, as `rollup_seen` keeps it of persons. */
export const whoSql = (entity: string, kind: string, value: string, text: string): string =>
  `md5(${entity} || chr(31) || ${kind} || chr(31) || (${value}) || chr(31) || (${text}))::uuid`;

/** Lanes that people and sessions are counted in: all of them, and all but the subscription lane. */
export const LANE = { all: 1, billed: 2 } as const;

/** Whether a row, whose columns have `prefix`, is billed. */
export const billedSql = (prefix: string): string => `${prefix}channel <> 'subscription'`;
export const BILLED = billedSql("r.");

/** Kinds that need the model or the route, and so more cells than sessions have. */
export const isFine = (name: string): boolean => name === "model" || name === "route";

/** The hour of an instant as a set of hours (bit 0 is the first). */
export const hourBit = (column: string): string =>
  `1 << extract(hour from ${column} at time zone 'UTC')::int`;

/** The quarter of an hour that an instant lies in, as its beginning (UTC). */
export const quarterSql = (instant: string): string =>
  `date_bin('15 minutes', ${instant}, timestamptz '2000-01-01T00:00:00Z')`;
