import type postgres from "postgres";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { withStoreErrors } from "../store-errors.ts";

/**
 * The version of all records, or of those of a team and the teams below it: a number that changes whenever a report may
 * have changed.
 * @throws GatewayError store_unavailable
 */
export type RecordVersion = (team: string | null) => Promise<number>;

/**
 * Records, joins, and what administrators set; what no team owns counts for every team. Rows that have reached ClickHouse
 * change it once more, because reports are read there (decision: Pages follow the version of the records).
 */
const VERSION = `select (
  (select coalesce(sum(changes), 0) from record_changes where org_id = $1 and team in ('', $2))
  + coalesce((select version from directory_versions where org_id = $1), 0)
  + coalesce((select version from clickhouse_state where org_id = $1), 0)
)::float8 as version`;

/** `sql` asks the database that reports read: if that is a replica, this is the version of what it shows. */
export const recordVersion =
  (sql: postgres.Sql): RecordVersion =>
  (team) =>
    withStoreErrors(async () => {
      const values = [DEFAULT_ORG, team ?? "*"];
      const [row] = await sql.unsafe<{ version: number }[]>(VERSION, values, { prepare: true });
      return row?.version ?? 0;
    });
