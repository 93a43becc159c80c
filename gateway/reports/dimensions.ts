import type { DimensionName } from "#shared/report.ts";

/** The text of a group where a record has no such label. */
export const NONE = "(none)";

/**
 * A dimension over a record `r` of a relation, its key `k`, and one of its tags `t`. `filter` says when a record passes;
 * `any` is the list of accepted texts. A filter chooses records, so grouped by tag a record chosen for one tag shows
 * under all of its tags.
 */
type Dimension = { sql: string; time?: true; filter?: (any: string) => string };

const label = (column: string): Dimension => ({ sql: `coalesce(r.${column}, '${NONE}')` });
const time = (sql: string): Dimension => ({ sql, time: true });

const UTC = "r.started_at at time zone 'UTC'";

/** Label, owner, or both where they differ (decision: Person and owner are stored apart). */
const SUBJECT = `case
    when not r.attributed then '${NONE}'
    when r.user_label <> r.owner then r.user_label || ' (' || r.owner || ')'
    else coalesce(r.user_label, r.owner, 'service account') end`;

export const TAGS = `case when cardinality(r.tags) = 0 then array['${NONE}'] else r.tags end`;

export const DIMENSION = {
  client: label("client"),
  model: label("model"),
  route: label("route"),
  subject: {
    sql: SUBJECT,
    filter: (any) => `(${SUBJECT} = any(${any}) or r.user_label = any(${any}) or r.owner = any(${any}))`,
  },
  key: { sql: `coalesce(k.name, r.key_id::text, '${NONE}')` },
  channel: label("channel"),
  tag: { sql: "t.tag", filter: (any) => `(${TAGS}) && ${any}` },
  session: label("session"),
  server: label("server"),
  tool: label("tool"),
  repository: label("repository"),
  day: time(`to_char(${UTC}, 'YYYY-MM-DD')`),
  week: time(`to_char(date_trunc('week', ${UTC}), 'YYYY-MM-DD')`),
  month: time(`to_char(${UTC}, 'YYYY-MM')`),
} as const satisfies Record<DimensionName, Dimension>;

export const isTime = (name: DimensionName): boolean => "time" in DIMENSION[name];

export function filterSql(name: DimensionName, any: string): string {
  const dimension: Dimension = DIMENSION[name];
  return dimension.filter?.(any) ?? `${dimension.sql} = any(${any})`;
}
