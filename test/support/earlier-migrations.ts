import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MIGRATIONS_DIRECTORY } from "#drizzle/migrate.ts";
import { scratch } from "./embedded.ts";

/** A directory with the migrations of an earlier version, up to and including `last`. */
export function migrationsUntil(last: string): string {
  const place = join(scratch().path, "migrations");
  cpSync(MIGRATIONS_DIRECTORY, place, { recursive: true });
  const path = join(place, "meta/_journal.json");
  const journal = JSON.parse(readFileSync(path, "utf8"));
  const end = journal.entries.findIndex(({ tag }: { tag: string }) => tag === last);
  writeFileSync(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, end + 1) }));
  return place;
}
