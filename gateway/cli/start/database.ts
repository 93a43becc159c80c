import { startEmbedded } from "#drizzle/embedded/supervisor.ts";
import { migrate } from "#drizzle/migrate.ts";
import { ensurePartitions } from "#drizzle/partitions.ts";
import { pause } from "#shared/backoff.ts";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { LauncherConfig } from "../../config.ts";

export type DatabaseOptions = {
  config: LauncherConfig;
  log: Log;
  clock: Clock;
  progress: (text: string) => void;
  /** Aborted when the launcher has to stop. */
  signal: AbortSignal;
};

export type ReadyDatabase = {
  url: string;
  /** The database and its location, for display. */
  description: string;
  stop(): Promise<void>;
};

/** A migrated database: the given one, or one of our own. @throws Error with a remedy. */
export async function readyDatabase(options: DatabaseOptions): Promise<ReadyDatabase> {
  const database = (await given(options)) ?? (await embedded(options));
  try {
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

async function embedded({ config, log, clock, progress }: DatabaseOptions): Promise<ReadyDatabase> {
  const postgres = await startEmbedded({ dataDirectory: config.dataDirectory, log, clock, progress });
  const user = postgres.user === null ? "" : `, run by ${postgres.user}`;
  return {
    url: postgres.url,
    description: `Postgres ${postgres.version} in ${postgres.data}${user}`,
    stop: postgres.stop,
  };
}

/** Codes of a database that may yet come up: refused or lost connections, unknown hosts, a server that is starting. */
const NOT_THERE = /^(ECONN|ENOENT|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|CONNECT|DEADLINE|57P0|08|53300)/;

async function migrateWhenThere(url: string, { progress, signal }: DatabaseOptions): Promise<void> {
  const slow = setTimeout(() => progress("Migrating the database …"), 1_000);
  let announced = false;
  try {
    while (!signal.aborted) {
      const fault = await migrate(url).then(
        () => null,
        (error: unknown) => error,
      );
      if (fault === null) return;
      const code = String(errorFields(fault)["code"] ?? "");
      if (!NOT_THERE.test(code)) throw new Error(`The database cannot be migrated: ${reasonOf(fault)}`);
      if (!announced) progress(`Waiting for the database (${code}) …`);
      announced = true;
      await pause(1_000, signal);
    }
  } finally {
    clearTimeout(slow);
  }
}

/** Drizzle's errors quote the statement; their cause has Postgres's message. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : "unknown";
}

/** Not fatal: records of a month without a partition go to the default one and are moved later. */
async function partitions(url: string, { clock, log }: DatabaseOptions): Promise<void> {
  try {
    await ensurePartitions(url, clock.now());
  } catch (error) {
    log.warn(errorFields(error), "partitions cannot be created yet");
  }
}
