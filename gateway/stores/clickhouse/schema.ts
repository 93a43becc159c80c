import { getTableConfig, type PgColumn, type PgTable } from "drizzle-orm/pg-core";
import { KEY_COLUMNS } from "#drizzle/hour-sums.ts";
import { agentPoints } from "#drizzle/schema/agent.ts";
import { pullRequests, repositories, reviews } from "#drizzle/schema/github.ts";
import { keys } from "#drizzle/schema/keys.ts";
import { requests } from "#drizzle/schema/records.ts";
import { toolCalls } from "#drizzle/schema/tools.ts";
import { CELL_SUMS, SUMS_COLUMNS } from "../../reports/buckets/columns.ts";
import { engineOf, onCluster, spreadTable, storedIn } from "./cluster.ts";

/**
 * A table of ClickHouse that has the columns of one in Postgres. `order` identifies a row: of several rows with the same
 * values there, the one with the highest `version` counts. `month`: the instant by whose month rows lie together; it is in
 * `order`, because only rows of one month replace each other.
 */
type Copied = {
  of: PgTable;
  order: readonly string[];
  month?: string;
  only?: readonly string[];
  without?: string;
};

const hashOf = (text: string): string =>
  `Nullable(UInt64) materialized if(isNull(${text}), null, sipHash64(assumeNotNull(${text})))`;
/** Columns that ClickHouse makes of each row of calls and metrics: who made it, and its session, as hashes. */
const HASHES = [`person ${hashOf("coalesce(user_label, owner)")}`, `run ${hashOf("session")}`];

/** Of calls of tools, reports read single hours. */
export const TOOL_HOUR = "toStartOfHour(started_at, 'UTC')";

/** Tables that reports read, by their name in both databases. */
export const COPIED = {
  // Who made what a provider keeps is asked of Postgres alone.
  requests: { of: requests, order: ["org_id", "started_at", "id"], month: "started_at", without: "kept_ids" },
  // Sightings of a call may move its start: then the copy in the other hour is deleted.
  tool_calls: { of: toolCalls, order: ["org_id", TOOL_HOUR, "origin", "external_id"], month: "started_at" },
  agent_points: { of: agentPoints, order: ["org_id", "ended_at", "hash"], month: "ended_at" },
  pull_requests: { of: pullRequests, order: ["org_id", "repository_id", "number"] },
  reviews: { of: reviews, order: ["org_id", "repository_id", "id"] },
  repositories: { of: repositories, order: ["org_id", "id"] },
  // What a key may do stays in Postgres.
  keys: { of: keys, order: ["org_id", "id"], only: ["org_id", "id", "name"] },
} as const satisfies Record<string, Copied>;
export type CopiedTable = keyof typeof COPIED;
export const COPIED_TABLES = Object.keys(COPIED) as CopiedTable[];

/** The columns of a copied table in their order; each row has a `version` beside them. */
export const copiedColumns = (name: CopiedTable): PgColumn[] => {
  const { of, only, without }: Copied = COPIED[name];
  return getTableConfig(of).columns.filter(
    (column) => column.name !== without && (only?.includes(column.name) ?? true),
  );
};

/**
 * Exact decimals: 46 digits before the point, 30 behind it. An administrator's price has at most 12 and 18 digits
 * (`readDecimal`), six places more per token, and factors of tiers few more; a call counts at most 2^31 units.
 */
const EXACT = "Decimal(76, 30)";

/** How a type of Postgres is stored. JSON is text, and so are bytes: in hexadecimal digits. */
const TYPES: Record<string, string> = {
  'text COLLATE "C"': "String",
  'text[] COLLATE "C"': "Array(LowCardinality(String))",
  "timestamptz(3)": "DateTime64(3, 'UTC')",
  numeric: EXACT,
  uuid: "UUID",
  boolean: "Bool",
  smallint: "Int16",
  integer: "Int32",
  bigint: "Int64",
  jsonb: "String",
  bytea: "String",
};

/** Texts with about as many values as there are rows. All others are stored as numbers of a dictionary. */
const MANY = new Set([
  "session",
  "agent_session",
  "parent_session",
  "accepted_session",
  "agent_id",
  "parent_agent_id",
  "provider_request_id",
  "kept_id",
  "external_id",
  "full_name",
  "merge_commit_sha",
  "head_branch",
  "head_repository",
  "body_sha256",
]);

/** @throws Error for a type that no column had so far */
export function plainType(column: PgColumn): string {
  const type = TYPES[column.getSQLType()];
  if (type === undefined) throw new Error(`no type in ClickHouse for ${column.name}`);
  return type;
}

/** Lists cannot be null there: an unknown one is empty, and no known one is. */
function typeOf(column: PgColumn): string {
  const type = plainType(column);
  if (type.startsWith("Array")) return type;
  const nullable = column.notNull ? type : `Nullable(${type})`;
  const isLabel = column.getSQLType().startsWith("text");
  return isLabel && !MANY.has(column.name) ? `LowCardinality(${nullable})` : nullable;
}

export function createTable(name: CopiedTable, cluster: string | null): string[] {
  const { order, month }: Copied = COPIED[name];
  const copied = copiedColumns(name);
  const columns = [
    ...copied.map((column) => `${column.name} ${typeOf(column)}`),
    "version UInt64",
    ...(copied.some((column) => column.name === "user_label") ? HASHES : []),
  ];
  const table = `create table if not exists ${storedIn(name, cluster)}${onCluster(cluster)} (
  ${columns.join(",\n  ")}
) engine = ${engineOf(name, cluster)}${month ? `\npartition by toYYYYMM(${month})` : ""}
order by (${order.join(", ")})`;
  const tables = new Set([storedIn(name, cluster), name]);
  // A table of an earlier release lacks the columns that came since.
  const added = columns.map((column) => `add column if not exists ${column}`).join(", ");
  return [
    table,
    ...spreadTable(name, cluster),
    ...[...tables].map((made) => `alter table ${made}${onCluster(cluster)} ${added}`),
  ];
}

/** The table whose one row says which database this is (identity.ts). */
const identity = (cluster: string | null): string =>
  `create table if not exists identity${onCluster(cluster)} (
  org_id LowCardinality(String),
  id UUID,
  version UInt64
) engine = ${engineOf("identity", cluster)}
order by org_id`;

/** The engine that keeps every row. */
const anyVersion = (name: string, cluster: string | null): string =>
  engineOf(name, cluster).replace("Replacing", "").replace(", version)", ")").replace("(version)", "");

const cellKeys = (): string[] =>
  KEY_COLUMNS.flatMap((name) => copiedColumns("requests").filter((column) => column.name === name)).map(
    (column) => `${column.name} ${typeOf(column)}`,
  );

/** Sums of calls by hour and day, and which of their generations counts (sum-up.ts). They outlive the calls, but cells do not. */
const sumsTables = (cluster: string | null): string[] => [
  `create table if not exists sums${onCluster(cluster)} (
  ${SUMS_COLUMNS.join(",\n  ")}
) engine = ${anyVersion("sums", cluster)}
partition by toYYYYMM(at)
order by (org_id, kind, level, at, value, billed, gen)`,
  `create table if not exists cells${onCluster(cluster)} (
  org_id LowCardinality(String),
  at DateTime('UTC'),
  gen UInt64,
  ${[...cellKeys(), ...CELL_SUMS, ...HASHES].join(",\n  ")}
) engine = ${anyVersion("cells", cluster)}
partition by toYYYYMM(at)
order by (org_id, at, gen, ifNull(session, ''), key_id)`,
  `create table if not exists summed${onCluster(cluster)} (
  org_id LowCardinality(String),
  level LowCardinality(String),
  at DateTime('UTC'),
  gen UInt64,
  ready Bool
) engine = ${engineOf("summed", cluster).replace("version", "gen")}
order by (org_id, level, at)`,
];

/** Statements that make or complete all tables, one by one; on each server of a cluster, if it is named. */
export const createTables = (cluster: string | null = null): string[] => [
  ...COPIED_TABLES.flatMap((name) => createTable(name, cluster)),
  ...sumsTables(cluster),
  identity(cluster),
];

/** Tables that must exist, because others rely on them. Cells can be made again. */
export const ALL_TABLES = [...COPIED_TABLES, "sums", "summed"];
