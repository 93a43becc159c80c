import type { ClickHouseClient } from "@clickhouse/client";
import { onCluster, type Place, storedIn } from "./cluster.ts";
import { type CopiedTable, SESSION_REQUESTS } from "./schema.ts";

type Stores = { client: ClickHouseClient; place: Pick<Place, "cluster"> };
type Chosen = { where: string; params?: Record<string, readonly string[]> };

/** Deletes copies of rows, whatever their version; those of calls from both of their tables. */
export async function deleteCopies(
  { client, place: { cluster } }: Stores,
  name: CopiedTable,
  { where, params = {} }: Chosen,
): Promise<void> {
  for (const table of name === "requests" ? [name, SESSION_REQUESTS] : [name]) {
    const query = `delete from ${storedIn(table, cluster)}${onCluster(cluster)} where ${where}`;
    await client.command({ query, query_params: params });
  }
}
