import { join } from "node:path";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate as applyMigrations } from "drizzle-orm/postgres-js/migrator";
import { connect } from "./database.ts";

export const MIGRATIONS_DIRECTORY = join(import.meta.dir, "migrations");

/** Any number, the same in every version of this program: who holds it migrates. */
const MIGRATION_LOCK = 7_219_440_318;

/**
 * Brings the database at `url` to this program's schema. Safe to run from several processes at once: the lock is held
 * by the one connection that migrates, because drizzle's migrator takes none.
 */
export async function migrate(url: string, directory = MIGRATIONS_DIRECTORY): Promise<void> {
  const client = connect(url, { name: "migrate", max: 1, statementTimeoutMs: 0 });
  try {
    await client`select pg_advisory_lock(${MIGRATION_LOCK})`;
    await applyMigrations(drizzle(client), { migrationsFolder: directory });
    await client`select pg_advisory_unlock(${MIGRATION_LOCK})`;
  } finally {
    await client.end({ timeout: 5 });
  }
}
