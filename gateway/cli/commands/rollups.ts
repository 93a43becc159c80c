import { resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import type { Command } from "commander";
import { runningDatabase } from "#drizzle/embedded/supervisor.ts";
import { readEnv } from "#shared/env.ts";
import { optional, postgresUrl, text } from "#shared/env-forms.ts";
import { openRollups, type Progress } from "../../stores/reports/rollups.ts";
import { START_COMMAND } from "../own-program.ts";
import { countText, progressDisplay } from "../print/progress.ts";
import { print } from "./common.ts";

export const addRollups = (program: Command) =>
  program
    .command("rollups")
    .description("Maintain the sums behind reports.")
    .command("rebuild")
    .description("Rebuild the sums from the individual records. Reports stay correct meanwhile.")
    .addHelpText("after", HELP)
    .action(rebuild);

const HELP = `
Needed only after changing records by hand in the database. Uses DATABASE_URL, or the database that
\`${START_COMMAND}\` runs here. Sums of records that retention_days has dropped stay unchanged.`;

/** The database of an installation on this computer, or the one that is named. */
export const Where = Type.Object({
  DATABASE_URL: optional(postgresUrl()),
  DATA_DIR: text("a directory", () => true, ".tallygate"),
});

async function rebuild(): Promise<void> {
  const { DATABASE_URL, DATA_DIR } = readEnv(Where);
  const url = DATABASE_URL ?? runningDatabase(resolve(DATA_DIR));
  if (!url) throw new Error("No database is running here. Start the gateway, or set DATABASE_URL.");
  const rollups = openRollups({ url });
  const startMs = performance.now();
  const now = new Date();
  const display = progressDisplay({});
  let firstMs: number | null = null;
  const onProgress = ({ rolledTo, records }: Progress) => {
    firstMs ??= rolledTo.getTime();
    display.show({
      done: rolledTo.getTime() - firstMs,
      of: now.getTime() - firstMs,
      text: `${countText(records)} records, up to ${rolledTo.toISOString().slice(0, 10)}`,
    });
  };
  try {
    const { records } = await rollups.rebuild(now, onProgress);
    display.end();
    print(`Done: ${countText(records)} records in ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
  } finally {
    display.end();
    await rollups.close();
  }
}
