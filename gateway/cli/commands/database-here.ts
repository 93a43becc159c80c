import { resolve } from "node:path";
import { runningDatabase } from "#drizzle/embedded/supervisor.ts";
import { optional, postgresUrl, text } from "#shared/env-forms.ts";

/** The settings that say where the database is. */
export const WHERE = {
  DATABASE_URL: optional(postgresUrl()),
  DATA_DIR: text("a directory", () => true, ".tallygate"),
};

/** The address of the database that is named, or of the one that an installation on this computer runs. @throws Error */
export function databaseHere({
  DATABASE_URL,
  DATA_DIR,
}: {
  DATABASE_URL?: string;
  DATA_DIR: string;
}): string {
  const url = DATABASE_URL ?? runningDatabase(resolve(DATA_DIR));
  if (!url) throw new Error("No database is running here. Start the gateway, or set DATABASE_URL.");
  return url;
}
