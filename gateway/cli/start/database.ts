import { startEmbedded } from "#drizzle/embedded/supervisor.ts";
import { migrate } from "#drizzle/migrate.ts";
import { ensurePartitions } from "#drizzle/partitions.ts";
import { awayReason, refusalOf, unreachable, untilReachable } from "#drizzle/reach.ts";
import type { Ambient } from "#shared/clock.ts";
import { errorFields } from "#shared/log.ts";
import type { LauncherConfig } from "../../config.ts";

export type DatabaseOptions = Ambient & {
  config: LauncherConfig;
  progress: (text: string) => void;
  /** Aborted when the launcher has to stop. */
  signal: AbortSignal;
};

export type ReadyDatabase = {
  url: string;
  /** The database and its location, for display. */
  description: string;
  /** At once when `hurried` resolves. */
  stop(hurried?: Promise<unknown>): Promise<void>;
};

/** A migrated database, or a given one that is away: else one of our own. @throws Error with a remedy. */
export async function readyDatabase(options: DatabaseOptions): Promise<ReadyDatabase> {
  const database = (await given(options)) ?? (await embedded(options));
  try {
    // One of one's own may be away: the gateway starts without it, and migrates it when it is back.
    const reason = options.config.databaseUrl === null ? null : await awayReason(database.url);
    if (reason !== null) {
      options.progress(`${reason} The gateway starts without it.`);
      return database;
    }
    await migrateWhenThere(database.url, options);
    await partitions(database.url, options);
    return database;
  } catch (error) {
    await database.stop();
    throw error;
  }
}

const given = async ({ config }: DatabaseOptions): Promise<ReadyDatabase | null> =>
  config.databaseUrl === null
    ? null
    : { url: config.databaseUrl, description: "from DATABASE_URL", stop: async () => undefined };

async function embedded({ config, log, clock, progress, signal }: DatabaseOptions): Promise<ReadyDatabase> {
  const { dataDirectory, workers: gateways } = config;
  const postgres = await startEmbedded({ dataDirectory, gateways, log, clock, progress, signal });
  const user = postgres.user === null ? "" : `, run by ${postgres.user}`;
  return {
    url: postgres.url,
    description: `Postgres ${postgres.version} in ${postgres.data}${user}`,
    stop: postgres.stop,
  };
}

async function migrateWhenThere(
  url: string,
  { progress, signal }: Pick<DatabaseOptions, "progress" | "signal">,
): Promise<void> {
  await untilReachable(url, { say: progress, signal });
  if (signal.aborted) return;
  const slow = setTimeout(() => progress("Migrating the database …"), 1_000);
  try {
    await migrate(url);
  } catch (error) {
    // It may have gone away in between; whatever else fails would fail again.
    if (unreachable(url, error) === null) throw new Error(refusalOf(url, error));
    clearTimeout(slow);
    await migrateWhenThere(url, { progress, signal });
  } finally {
    clearTimeout(slow);
  }
}

/** Not fatal: records of a month without a partition go to the default one and are moved later. */
async function partitions(url: string, { clock, log }: DatabaseOptions): Promise<void> {
  try {
    await ensurePartitions(url, clock.now());
  } catch (error) {
    log.warn(errorFields(error), "partitions cannot be created yet");
  }
}
