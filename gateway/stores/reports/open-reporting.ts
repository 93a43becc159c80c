import type { Registry } from "prom-client";
import { connect, type Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";
import { type Copies, openCopies } from "../clickhouse/copies.ts";
import { recordVersion } from "./record-version.ts";
import { type ReportWriter, reportWriter } from "./report-worker.ts";

type Options = {
  databaseUrl: string;
  reportsDatabaseUrl: string | null;
  clickhouse: { url: string } | null;
  database: Pick<Database, "sql">;
  metrics: Registry;
  clock: Clock;
  log: Log;
};

/** A replica is also asked for the version of its records. */
const REPLICA = { name: "version", max: 1, statementTimeoutMs: 5_000, readOnly: true };

/** What writes reports, from the replica if there is one, and what is known of the copies in ClickHouse. */
export function openReporting({ databaseUrl, reportsDatabaseUrl, clickhouse, ...common }: Options) {
  const { database, metrics } = common;
  const copies = clickhouse && openCopies(clickhouse.url, { sql: database.sql, metrics });
  const clickhouseUrl = clickhouse?.url ?? null;
  const places = { url: reportsDatabaseUrl ?? databaseUrl, mainUrl: databaseUrl, clickhouseUrl };
  const replica = reportsDatabaseUrl === null ? null : connect(reportsDatabaseUrl, REPLICA);
  const writer = withCopies(reportWriter(places, common), copies);
  return {
    copies,
    reportWriter: writer,
    recordVersion: recordVersion(replica ?? database.sql),
    closeReporting: async () => {
      await Promise.all([writer.close(), copies?.close(), replica?.end({ timeout: 5 })]);
    },
  };
}

/** Reports that are read from ClickHouse wait, within bounds, for what Postgres has already. */
const withCopies = (writer: ReportWriter, copies: Pick<Copies, "caughtUp"> | null): ReportWriter =>
  copies === null
    ? writer
    : {
        ...writer,
        write: async (...asked) => {
          await copies.caughtUp();
          return await writer.write(...asked);
        },
        writeAll: async (...asked) => {
          await copies.caughtUp();
          return await writer.writeAll(...asked);
        },
      };
