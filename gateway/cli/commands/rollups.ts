import { Type } from "@sinclair/typebox";
import type { Command } from "commander";
import { readEnv } from "#shared/env.ts";
import { counted } from "#shared/plural.ts";
import { openRollups, type Progress } from "../../stores/reports/rollups.ts";
import { START_COMMAND } from "../own-program.ts";
import { progressDisplay } from "../print/progress.ts";
import { print } from "./common.ts";
import { databaseHere, WHERE } from "./database-here.ts";

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

async function rebuild(): Promise<void> {
  const rollups = openRollups({ url: databaseHere(readEnv(Type.Object(WHERE))) });
  const startMs = performance.now();
  const now = new Date();
  const display = progressDisplay({});
  let firstMs: number | null = null;
  const onProgress = ({ rolledTo, records }: Progress) => {
    firstMs ??= rolledTo.getTime();
    display.show({
      done: rolledTo.getTime() - firstMs,
      of: now.getTime() - firstMs,
      text: `${counted(records, "record")}, up to ${rolledTo.toISOString().slice(0, 10)}`,
    });
  };
  try {
    const { records } = await rollups.rebuild(now, onProgress);
    display.end();
    print(`Done: ${counted(records, "record")} in ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
  } finally {
    display.end();
    await rollups.close();
  }
}
