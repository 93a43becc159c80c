import { resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import type { Command } from "commander";
import { runningDatabase } from "#drizzle/embedded/supervisor.ts";
import { readEnv } from "#shared/env.ts";
import { optional, postgresUrl, text } from "#shared/env-forms.ts";
import { openRollups, type Progress } from "../../stores/reports/rollups.ts";
import { print } from "./common.ts";

export const addRollups = (program: Command) =>
  program
    .command("rollups")
    .description("The sums behind reports.")
    .command("rebuild")
    .description("Rebuild them from the single records. Reports stay correct meanwhile.")
    .addHelpText("after", HELP)
    .action(rebuild);

const HELP = `
Needed only after changing records by hand in the database. Uses DATABASE_URL, or the database that
"bun run start" runs here. Sums of records that retention_days has dropped stay unchanged.`;

const Where = Type.Object({
  DATABASE_URL: optional(postgresUrl()),
  DATA_DIR: text("a directory", () => true, ".tallygate"),
});

async function rebuild(): Promise<void> {
  const { DATABASE_URL, DATA_DIR } = readEnv(Where);
  const url = DATABASE_URL ?? runningDatabase(resolve(DATA_DIR));
  if (!url) throw new Error("No database is running here. Start the gateway, or set DATABASE_URL.");
  const rollups = openRollups({ url });
  const startMs = performance.now();
  let lastDay = "";
  const onProgress = ({ rolledTo, records }: Progress) => {
    const day = rolledTo.toISOString().slice(0, 10);
    if (day === lastDay) return;
    lastDay = day;
    print(`rolled up to ${day}, ${records} records so far`);
  };
  try {
    const { records } = await rollups.rebuild(new Date(), onProgress);
    print(`done: ${records} records in ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
  } finally {
    await rollups.close();
  }
}
