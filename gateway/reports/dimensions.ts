import type { KeyColumn } from "#drizzle/hour-sums.ts";
import type { DimensionName } from "#shared/report.ts";
import { CLICKHOUSE, type Engine, POSTGRES } from "./engines.ts";
import { explanationText } from "./explained.ts";

export const UTC = "UTC";

/** The text of a group where a record has no such label. */
export const NONE = "(none)";

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
  /** Groups are in the order of their texts, as those of time are. */
  ordered?: true;
  filter?: (any: string) => string;
};

const label = (column: string): string => `coalesce(r.${column}, '${NONE}')`;
const column = (name: KeyColumn): Dimension => ({ records: label(name), columns: [name], sums: label(name) });

/** The groups of time; cells have their `day` in a column. */
const timesIn = (engine: Engine, zone: string, day: string) => {
  const time = (records: string, cells: string): Dimension => ({
    records,
    cells,
    label: cells,
    time: true,
    ordered: true,
  });
  return {
    day: time(engine.day("r.started_at", zone), `${day}::text`),
    week: time(engine.week("r.started_at", zone), `(${day} - extract(isodow from ${day})::int + 1)::text`),
    month: time(engine.month("r.started_at", zone), `left(${day}::text, 7)`),
    quarter: time(engine.quarter("r.started_at", zone), `to_char(${day}, 'YYYY-"Q"Q')`),
    hour_of_day: { records: engine.hourOfDay("r.started_at", zone), ordered: true } satisfies Dimension,
  };
};

/** The column of cells with their day in a time zone; `r.day` is that of UTC, by which hours are counted. */
export const dayColumn = (zone: string): string => (zone === UTC ? "r.day" : "r.local_day");

/** The subject of a call that no one made. */
export const SERVICE_ACCOUNT = "service account";

/** Label, owner, or both where they differ. */
const SUBJECT = `case
    when not r.attributed then '${NONE}'
    when r.user_label <> r.owner then r.user_label || ' (' || r.owner || ')'
    else coalesce(r.user_label, r.owner, '${SERVICE_ACCOUNT}') end`;

const tagsIn = (engine: Engine): string => engine.itemsOr("r.tags", NONE);

/** Joins one row for each distinct tag of `r`. */
export const tagRows = (engine: Engine): string => engine.eachItem(tagsIn(engine)).join;

/** Classes of a size, each up to one of these; the numbers begin with as many digits, so that they sort. */
const sizeClass = (size: string, ends: readonly number[]): string => {
  const digits = String(ends.at(-1)).length;
  const words = ends.map((end, i) => {
    const from = (ends[i - 1] ?? -1) + 1;
    return ` when ${size} <= ${end} then '${String(from).padStart(digits, "0")} to ${end}'`;
  });
  return `case when ${size} is null then '${NONE}'${words.join("")} else 'over ${ends.at(-1)}' end`;
};

/** The only place where dimensions meet SQL. */
const dimensionsIn = (engine: Engine) =>
  ({
    client: column("client"),
    model: column("model"),
    route: column("route"),
    subject: {
      records: SUBJECT,
      columns: ["owner", "user_label"],
      sums: SUBJECT,
      filter: (any: string) =>
        `(${[SUBJECT, "r.user_label", "r.owner"].map((who) => engine.isAnyOf(who, any)).join(" or ")})`,
    },
    key: {
      records: `coalesce(k.name, r.key_id::text, '${NONE}')`,
      columns: ["key_id"],
      // A key is summed up by its id, because its name may change.
      sums: "r.key_id::text",
      label: "coalesce(k.name, r.value)",
    },
    team: {
      records: engine.firstOr("r.teams", NONE),
      columns: ["teams"],
      sums: engine.firstOr("r.teams", NONE),
      // A team with those that were below it.
      filter: (any: string) => engine.overlap(engine.itemsOr("r.teams", NONE), any),
    },
    cost_center: column("cost_center"),
    channel: column("channel"),
    tag: {
      records: engine.eachItem(tagsIn(engine)).item,
      columns: ["tags"],
      sums: engine.eachItem(tagsIn(engine)).item,
      filter: (any: string) => engine.overlap(tagsIn(engine), any),
    },
    session: { records: label("session"), columns: ["session"] },
    server: { records: label("server") },
    tool: { records: label("tool") },
    repository: { records: label("repository") },
    author: { records: label("author") },
    pull_request: { records: label("pull_request_name") },
    provider: { records: label("provider") },
    surface: { records: label("surface") },
    error: { records: label("error") },
    tier: { records: label("service_tier") },
    pr_kind: { records: "coalesce(r.pr_kind, 'change')" },
    pr_lines: { records: sizeClass("r.pr_lines", [10, 50, 200, 1000]) },
    pr_files: { records: sizeClass("r.pr_files", [1, 5, 20]) },
    explanation: { records: explanationText(engine), columns: ["session", "owner", "key_id"] },
    ...timesIn(engine, UTC, dayColumn(UTC)),
  }) satisfies Record<DimensionName, Dimension>;

const DIMENSIONS = { postgres: dimensionsIn(POSTGRES), clickhouse: dimensionsIn(CLICKHOUSE) };

type Looking = { engine?: Engine; timeZone?: string };

/** A dimension over the records of an engine; cells and sums are Postgres's, and sums are those of UTC. */
export function dimensionOf(
  name: DimensionName,
  { engine = POSTGRES, timeZone = UTC }: Looking = {},
): Dimension {
  return timeZone !== UTC && isOrdered(name)
    ? timesIn(engine, timeZone, dayColumn(timeZone))[name]
    : DIMENSIONS[engine.name][name];
}

type Ordered = keyof ReturnType<typeof timesIn>;
export const isOrdered = (name: DimensionName): name is Ordered => "ordered" in DIMENSIONS.postgres[name];
export type TimeDimension = Exclude<Ordered, "hour_of_day">;
export const isTime = (name: DimensionName): name is TimeDimension => "time" in DIMENSIONS.postgres[name];
/** A quarter is of three months, which Postgres's intervals know no word for. */
export const intervalOf = (unit: TimeDimension): string => (unit === "quarter" ? "3 months" : `1 ${unit}`);

/** Whether cells tell groups apart; else single records are read. */
export const hasCells = (name: DimensionName): boolean =>
  isTime(name) || "columns" in DIMENSIONS.postgres[name];

/** Whether a filter compares the text of a group, and nothing else. */
export const isFilteredByText = (name: DimensionName): boolean => dimensionOf(name).filter === undefined;

/** `byOwner`: a filter by subject means the key's owner alone, whatever label a call carries. */
export type Filtering = Looking & { byOwner: boolean };

export function filterSql(name: DimensionName, any: string, how: Filtering): string {
  const { engine = POSTGRES } = how;
  const { filter, records } = dimensionOf(name, how);
  if (name === "subject" && how.byOwner) return engine.isAnyOf("r.owner", any);
  return filter?.(any) ?? engine.isAnyOf(records, any);
}
