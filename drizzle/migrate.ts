import { join } from "node:path";
import { DrizzleQueryError } from "drizzle-orm";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate as applyMigrations } from "drizzle-orm/postgres-js/migrator";
import type postgres from "postgres";
import { codeOf } from "#shared/error-code.ts";
import { connected } from "./database.ts";

export const MIGRATIONS_DIRECTORY = join(import.meta.dir, "migrations");

/** Advisory lock for migrating: an arbitrary number, the same in every version. */
const MIGRATION_LOCK = 7_219_440_318;

/** How often and how long apart it is tried while gateways of an earlier version hold locks: ten minutes, as long as a turn of rollups may take. */
const TRIES = 200;
const PAUSE_MS = 1_000;
/** SQLSTATE of a lock that could not be acquired in time, and of a deadlock. */
const HELD: unknown[] = ["55P03", "40P01"];

/**
 * Brings the database at `url` to this program's schema. Safe to run from several processes at once: the lock is held
 * by the migrating connection, because drizzle's migrator takes no lock.
 * @throws Error if the database cannot be reached or migrated, or cannot store every Unicode text.
 */
export const migrate = (url: string, directory = MIGRATIONS_DIRECTORY): Promise<void> =>
  connected(url, { name: "migrate", statementTimeoutMs: 0 }, async (client) => {
    await requireEveryLetter(client);
    await client`select pg_advisory_lock(${MIGRATION_LOCK})`;
    for (let tries = 1; !(await migrated(client, directory, tries === TRIES)); tries++)
      await Bun.sleep(PAUSE_MS);
    await client`select pg_advisory_unlock(${MIGRATION_LOCK})`;
  });

/** Whether all of it is done; else others hold locks, which is an error in the `last` try. */
async function migrated(client: postgres.Sql, directory: string, last: boolean): Promise<boolean> {
  try {
    await applyMigrations(drizzle(client), { migrationsFolder: directory });
    return true;
  } catch (error) {
    // Drizzle's own error quotes the statement; the server's message is its cause.
    const cause = error instanceof DrizzleQueryError && error.cause ? error.cause : error;
    if (last || !HELD.includes(codeOf(cause))) throw cause;
    return false;
  }
}

/** Another encoding works until a label has a letter that it lacks; then the server refuses the record. */
async function requireEveryLetter(client: postgres.Sql): Promise<void> {
  const [row] = await client`select current_setting('server_encoding') as name`;
  const name: unknown = row?.["name"];
  if (name === "UTF8") return;
  throw new Error(
    `its encoding is ${String(name)} and must be UTF8: create it with "encoding 'UTF8' template template0".`,
  );
}
