import { join } from "node:path";
import { DrizzleQueryError } from "drizzle-orm";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate as applyMigrations } from "drizzle-orm/postgres-js/migrator";
import type postgres from "postgres";
import { connected } from "./database.ts";

export const MIGRATIONS_DIRECTORY = join(import.meta.dir, "migrations");

/** Advisory lock for migrating: an arbitrary number, the same in every version. */
const MIGRATION_LOCK = 7_219_440_318;

/**
 * Brings the database at `url` to this program's schema. Safe to run from several processes at once: the lock is held
 * by the migrating connection, because drizzle's migrator takes no lock.
 * @throws Error if the database cannot be reached or migrated, or cannot store every Unicode text.
 */
export const migrate = (url: string, directory = MIGRATIONS_DIRECTORY): Promise<void> =>
  connected(url, { name: "migrate", statementTimeoutMs: 0 }, async (client) => {
    await requireEveryLetter(client);
    await client`select pg_advisory_lock(${MIGRATION_LOCK})`;
    // Drizzle's own error quotes the statement; the server's message is its cause.
    await applyMigrations(drizzle(client), { migrationsFolder: directory }).catch((error) => {
      throw error instanceof DrizzleQueryError && error.cause ? error.cause : error;
    });
    await client`select pg_advisory_unlock(${MIGRATION_LOCK})`;
  });

/** Another encoding works until a label has a letter that it lacks; then the server refuses the record. */
async function requireEveryLetter(client: postgres.Sql): Promise<void> {
  const [row] = await client`select current_setting('server_encoding') as name`;
  const name: unknown = row?.["name"];
  if (name === "UTF8") return;
  throw new Error(
    `its encoding is ${String(name)} and must be UTF8: create it with "encoding 'UTF8' template template0".`,
  );
}
