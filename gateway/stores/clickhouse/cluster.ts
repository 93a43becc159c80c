/** The address of a database, and the name of its cluster; null: it is one server. */
export type Place = { url: string; cluster: string | null };

/** Sharding keys: rows of a session, and rows that replace each other, share a shard. Other tables are everywhere. */
const SHARDED: Readonly<Record<string, string>> = {
  requests: "cityHash64(ifNull(session, toString(key_id)))",
  agent_points: "cityHash64(ifNull(session, toString(key_id)))",
  // A call's session may become known later.
  tool_calls: "cityHash64(origin, external_id)",
};

/** Of a statement that is to be run by every server of the cluster. */
export const onCluster = (cluster: string | null): string =>
  cluster === null ? "" : ` on cluster \`${cluster}\``;

/** The table that stores the rows of `name`: in a cluster they are read and written through one that spreads them. */
export const storedIn = (name: string, cluster: string | null): string =>
  cluster !== null && name in SHARDED ? `${name}_stored` : name;

/** The engine that keeps, of several rows with one order, the one with the highest `version`. */
export function engineOf(name: string, cluster: string | null): string {
  if (cluster === null) return "ReplacingMergeTree(version)";
  const place =
    name in SHARDED
      ? `'/clickhouse/tables/{database}/${name}/{shard}', '{replica}'`
      : `'/clickhouse/tables/{database}/${name}', '{shard}-{replica}'`;
  return `ReplicatedReplacingMergeTree(${place}, version)`;
}

/** The statement that makes the table by which rows are spread, for those that are. */
export function spreadTable(name: string, cluster: string | null): string[] {
  const by = SHARDED[name];
  if (cluster === null || by === undefined) return [];
  const stored = storedIn(name, cluster);
  return [
    `create table if not exists ${name}${onCluster(cluster)} as ${stored}
engine = Distributed(\`${cluster}\`, currentDatabase(), ${stored}, ${by})`,
  ];
}
