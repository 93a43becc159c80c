import { Type } from "@sinclair/typebox";
import type { Command } from "commander";
import { connect } from "#drizzle/database.ts";
import { migrate } from "#drizzle/migrate.ts";
import { systemClock } from "#shared/clock.ts";
import { readEnv, settingsOrExit } from "#shared/env.ts";
import { clickhouseUrl, optional, text } from "#shared/env-forms.ts";
import { createLog } from "#shared/log.ts";
import { counted } from "#shared/plural.ts";
import { endMarking } from "../../stores/clickhouse/begin.ts";
import { openClickHouse } from "../../stores/clickhouse/client.ts";
import { moveRecords } from "../../stores/clickhouse/move.ts";
import { START_COMMAND } from "../own-program.ts";
import { progressDisplay } from "../print/progress.ts";
import { print } from "./common.ts";
import { databaseHere, WHERE } from "./database-here.ts";

export const addMoveRecords = (program: Command) =>
  program
    .command("move-records")
    .description("Copy records from Postgres to ClickHouse day by day, and compare each day.")
    .option("--again", "start from the first day, not from where the last move stopped")
    .option("--end", "stop using ClickHouse: stop queueing records for it")
    .addHelpText("after", HELP)
    .action(move);

const HELP = `
Uses CLICKHOUSE_URL and CLICKHOUSE_CLUSTER, and DATABASE_URL or the database that \`${START_COMMAND}\` runs here.
Gateways can keep running. An interrupted move resumes where it stopped. A day counts as moved once both
databases have the same number of rows and the same sums for each model or tool; otherwise the exit status is 1.
At its end every day is compared once more. Nothing is deleted from Postgres.

Run it before you set CLICKHOUSE_URL for the gateway, so that reports are complete from the start.
Run it with --end after you have removed CLICKHOUSE_URL from every gateway.`;

const Where = Type.Object({
  ...WHERE,
  CLICKHOUSE_URL: optional(clickhouseUrl()),
  CLICKHOUSE_CLUSTER: optional(text("the name of a cluster", () => true)),
});

/** Of one insertion, or of the comparison of a day. */
const TIMEOUT_MS = 5 * 60_000;

async function move({ again, end }: { again?: true; end?: true }): Promise<void> {
  const { CLICKHOUSE_URL, CLICKHOUSE_CLUSTER, ...where } = settingsOrExit(() => readEnv(Where), 1);
  const databaseUrl = databaseHere(where);
  const sql = connect(databaseUrl, { name: "move", max: 3, statementTimeoutMs: 0 });
  try {
    await migrate(databaseUrl);
    if (end) {
      await endMarking(sql);
      return print("done: records are no longer queued for ClickHouse. The data in ClickHouse is unchanged.");
    }
    if (CLICKHOUSE_URL === undefined)
      throw new Error("Set CLICKHOUSE_URL to the address of your ClickHouse.");
    const client = openClickHouse(CLICKHOUSE_URL, { name: "move", timeoutMs: TIMEOUT_MS, connectionsMax: 2 });
    const display = progressDisplay({});
    try {
      const rows = await moveRecords(
        {
          sql,
          client,
          place: { url: CLICKHOUSE_URL, cluster: CLICKHOUSE_CLUSTER ?? null },
          clock: systemClock,
          log: createLog("move-records", "error"),
        },
        {
          again: again ?? false,
          onProgress: ({ table, day, rows: copied, done, of }) =>
            display.show({ done, of, text: `${table} of ${day}: ${counted(copied, "row")}` }),
        },
      );
      display.end();
      print(`done: ${counted(rows, "row")}; ClickHouse and Postgres agree`);
    } finally {
      display.end();
      await client.close();
    }
  } finally {
    await sql.end({ timeout: 5 });
  }
}
