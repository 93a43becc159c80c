import { join } from "node:path";
import { DrizzleQueryError } from "drizzle-orm";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate as applyMigrations } from "drizzle-orm/postgres-js/migrator";
import type postgres from "postgres";
import { connect } from "./database.ts";

export const MIGRATIONS_DIRECTORY = join(import.meta.dir, "migrations");

/** Advisory lock for migrating: an arbitrary number, the same in every version. */
const MIGRATION_LOCK = 7_219_440_318;

/**
 * Brings the database at `url` to this program's schema. Safe to run from several processes at once: the lock is held
 * by the migrating connection, because drizzle's migrator takes no lock.
 * @throws Error if the database cannot be reached or migrated, or cannot store every Unicode text.
 */
export async function migrate(url: string, directory = MIGRATIONS_DIRECTORY): Promise<void> {
  const client = connect(url, { name: "migrate", max: 1, statementTimeoutMs: 0 });
  try {
    await requireEveryLetter(client);
    await client`select pg_advisory_lock(${MIGRATION_LOCK})`;
    await applyMigrations(drizzle(client), { migrationsFolder: directory });
    await client`select pg_advisory_unlock(${MIGRATION_LOCK})`;
  } catch (error) {
    // Drizzle's own error quotes the statement; the server's message is its cause.
    throw error instanceof DrizzleQueryError && error.cause ? error.cause : error;
  } finally {
    await client.end({ timeout: 5 });
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
