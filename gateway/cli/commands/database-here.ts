import { resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import { existingCluster, makeDirectory } from "#drizzle/embedded/location.ts";
import { runningDatabase, startEmbedded } from "#drizzle/embedded/supervisor.ts";
import { awayReason } from "#drizzle/reach.ts";
import { systemClock } from "#shared/clock.ts";
import { readEnv } from "#shared/env.ts";
import { optional, postgresUrl, text } from "#shared/env-forms.ts";
import { createLog } from "#shared/log.ts";
import { printNote } from "./common.ts";

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

/** Does work on the database at `url`, or this installation's, started if need be. `creates`: makes a missing one. */
export async function withDatabase<T>(
  { url, creates = false }: { url: string | undefined; creates?: boolean },
  work: (url: string) => Promise<T>,
): Promise<T> {
  const { DATABASE_URL, DATA_DIR } = readEnv(Type.Object(WHERE));
  const dataDirectory = resolve(DATA_DIR);
  const running = url ?? DATABASE_URL ?? runningDatabase(dataDirectory);
  if (running) return await work(await answering(running));
  if (!creates && existingCluster(dataDirectory) === null) {
    throw new Error(`There is no database in ${dataDirectory}. Set DATA_DIR or DATABASE_URL.`);
  }
  makeDirectory(dataDirectory, 0o711);
  const embedded = await ownDatabase(dataDirectory);
  try {
    return await work(embedded.url);
  } finally {
    await embedded.stop();
  }
}

/** The address of a database, once it has answered. @throws Error with the cause */
export async function answering(url: string): Promise<string> {
  const away = await awayReason(url);
  if (away !== null) throw new Error(away);
  return url;
}

/** Starts the database of a data directory for this process alone. */
export const ownDatabase = (dataDirectory: string) =>
  startEmbedded({
    dataDirectory,
    log: createLog("database", "error"),
    clock: systemClock,
    progress: printNote,
  });
