import { Type } from "@sinclair/typebox";
import type { Command } from "commander";
import { openDatabase } from "#drizzle/database.ts";
import { monthsDue, retainDays } from "#drizzle/retention.ts";
import { readEnv } from "#shared/env.ts";
import { counted } from "#shared/plural.ts";
import { readSettings } from "../../stores/settings.ts";
import { START_COMMAND } from "../own-program.ts";
import { print } from "./common.ts";
import { databaseHere, WHERE } from "./database-here.ts";

export const addRetention = (program: Command) =>
  program
    .command("retention")
    .description("Show the months of records that are older than retention_days.")
    .option("--confirm", "drop all of them now, instead of one month a day")
    .addHelpText("after", HELP)
    .action(retention);

const HELP = `
The gateway drops the oldest of them once a day, and writes each to the audit log. Uses DATABASE_URL, or the database
that \`${START_COMMAND}\` runs here. Reports over dropped months stay.`;

async function retention({ confirm = false }: { confirm?: boolean }): Promise<void> {
  const url = databaseHere(readEnv(Type.Object(WHERE)));
  const days = await retentionDays(url);
  const due = await monthsDue(url, days);
  const named = (tables: readonly string[]) =>
    tables.map((table) => table.slice(-7).replace("_", "-")).join(", ");
  const age = counted(days, "day");
  if (due.length === 0) return print(`No month of records is older than ${age}.`);
  if (!confirm) return print(`Older than ${age}: ${named(due)}. The gateway drops one month a day.`);
  const dropped = await retainDays(url, { days, actor: "tallygate retention", confirmed: true });
  if (dropped.length === 0)
    throw new Error("Nothing was dropped yet: some of it is not summed, or in use. Try again in a minute.");
  print(`Dropped: ${named(dropped)}.`);
}

async function retentionDays(url: string): Promise<number> {
  const database = openDatabase(url, { name: "retention", max: 1, statementTimeoutMs: 10_000 });
  try {
    return (await readSettings(database.db)).retention_days;
  } finally {
    await database.close();
  }
}
