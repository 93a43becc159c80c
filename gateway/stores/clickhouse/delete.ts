import type { ClickHouseClient } from "@clickhouse/client";
import { onCluster, type Place, storedIn } from "./cluster.ts";
import type { CopiedTable } from "./schema.ts";

type Stores = { client: ClickHouseClient; place: Pick<Place, "cluster"> };
type Chosen = { where: string; params?: Record<string, readonly string[]> };

/** Deletes copies of rows, whatever their version. */
export async function deleteCopies(
  { client, place: { cluster } }: Stores,
  name: CopiedTable,
  { where, params = {} }: Chosen,
): Promise<void> {
  const query = `delete from ${storedIn(name, cluster)}${onCluster(cluster)} where ${where}`;
  await client.command({ query, query_params: params });
}
