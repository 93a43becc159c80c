import type { Registry } from "prom-client";
import { connect, type Database } from "#drizzle/database.ts";
import type { Ambient } from "#shared/clock.ts";
import { openCopies } from "../clickhouse/copies.ts";
import { recordVersion } from "./record-version.ts";
import { reportWriter } from "./report-writer.ts";

type Options = Ambient & {
  databaseUrl: string;
  reportsDatabaseUrl: string | null;
  clickhouse: { url: string } | null;
  database: Pick<Database, "sql">;
  metrics: Registry;
};

/** A replica is also asked for the version of its records. */
const REPLICA = { name: "version", max: 1, statementTimeoutMs: 5_000, readOnly: true };

/** The writer of reports, from the replica if there is one, and the state of the copies in ClickHouse. */
export function openReporting({ databaseUrl, reportsDatabaseUrl, clickhouse, ...common }: Options) {
  const { database, metrics } = common;
  const copies = clickhouse && openCopies(clickhouse.url, { sql: database.sql, metrics });
  const clickhouseUrl = clickhouse?.url ?? null;
  const places = { url: reportsDatabaseUrl ?? databaseUrl, mainUrl: databaseUrl, clickhouseUrl };
  const replica = reportsDatabaseUrl === null ? null : connect(reportsDatabaseUrl, REPLICA);
  // A replica shows a version later: what is kept must have all that is stored.
  const writer = reportWriter(places, { ...common, copies, version: recordVersion(database.sql) });
  return {
    copies,
    reportWriter: writer,
    recordVersion: recordVersion(replica ?? database.sql),
    closeReporting: async () => {
      await Promise.all([writer.close(), copies?.close(), replica?.end({ timeout: 5 })]);
    },
  };
}
