import type { DimensionName } from "#shared/report.ts";

/** The text of a group where a record has no such label. */
export const NONE = "(none)";

/** Columns of cells that tell groups apart. */
export const KEY_COLUMNS = [
  "channel",
  "client",
  "owner",
  "user_label",
  "key_id",
  "teams",
  "cost_center",
  "session",
  "tags",
  "model",
  "route",
] as const;
export type KeyColumn = (typeof KEY_COLUMNS)[number];

/**
 * A dimension. `records`: its text over a single record `r`, its key `k`, and one of its tags `t`; `cells`: the same over a
 * cell, where it differs, with the `columns` of cells that it reads. `sums`: the value by which sums are kept, and
 * `label`: its text over a row `r` of these. `filter` says when a record or a cell passes; `any` is the list of accepted
 * texts. A filter chooses records, so a record chosen for one tag shows under all of its tags.
 */
type Dimension = {
  records: string;
  cells?: string;
  columns?: readonly KeyColumn[];
  sums?: string;
  label?: string;
  time?: true;
  filter?: (any: string) => string;
};

const label = (column: string): string => `coalesce(r.${column}, '${NONE}')`;
const column = (name: KeyColumn): Dimension => ({ records: label(name), columns: [name], sums: label(name) });
const time = (records: string, cells: string): Dimension => ({ records, cells, label: cells, time: true });

const UTC = "r.started_at at time zone 'UTC'";

/** Label, owner, or both where they differ (decision: Person and owner are stored apart). */
const SUBJECT = `case
    when not r.attributed then '${NONE}'
    when r.user_label <> r.owner then r.user_label || ' (' || r.owner || ')'
    else coalesce(r.user_label, r.owner, 'service account') end`;

const TAGS = `case when cardinality(r.tags) = 0 then array['${NONE}'] else r.tags end`;

/** Joins one row for each distinct tag of `r`. Few records repeat a tag, and `distinct` costs more for each row. */
export const TAG_ROWS = `cross join lateral (
    select tag from (select unnest(${TAGS}) as tag, generate_subscripts(${TAGS}, 1) as place) u
    where array_position(${TAGS}, tag) = place) t`;

/** The only place where dimensions meet SQL. */
const DIMENSION = {
  client: column("client"),
  model: column("model"),
  route: column("route"),
  subject: {
    records: SUBJECT,
    columns: ["owner", "user_label"],
    sums: SUBJECT,
    filter: (any) => `(${SUBJECT} = any(${any}) or r.user_label = any(${any}) or r.owner = any(${any}))`,
  },
  key: {
    records: `coalesce(k.name, r.key_id::text, '${NONE}')`,
    columns: ["key_id"],
    // A key is summed up by its id, because its name may change.
    sums: "r.key_id::text",
    label: "coalesce(k.name, r.value)",
  },
  team: {
    records: `coalesce(r.teams[1], '${NONE}')`,
    columns: ["teams"],
    sums: `coalesce(r.teams[1], '${NONE}')`,
    // A team with those that were below it.
    filter: (any) => `coalesce(r.teams, array['${NONE}']) && ${any}`,
  },
  cost_center: column("cost_center"),
  channel: column("channel"),
  tag: { records: "t.tag", columns: ["tags"], sums: "t.tag", filter: (any) => `(${TAGS}) && ${any}` },
  session: { records: label("session"), columns: ["session"] },
  server: { records: label("server") },
  tool: { records: label("tool") },
  repository: { records: label("repository") },
  day: time(`to_char(${UTC}, 'YYYY-MM-DD')`, "r.day::text"),
  week: time(
    `to_char(date_trunc('week', ${UTC}), 'YYYY-MM-DD')`,
    "(r.day - extract(isodow from r.day)::int + 1)::text",
  ),
  month: time(`to_char(${UTC}, 'YYYY-MM')`, "left(r.day::text, 7)"),
} as const satisfies Record<DimensionName, Dimension>;

export const dimensionOf = (name: DimensionName): Dimension => DIMENSION[name];

export type TimeDimension = "day" | "week" | "month";
export const isTime = (name: DimensionName): name is TimeDimension => "time" in DIMENSION[name];

export function filterSql(name: DimensionName, any: string): string {
  const { filter, records } = dimensionOf(name);
  return filter?.(any) ?? `${records} = any(${any})`;
}
