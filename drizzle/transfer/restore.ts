import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TransactionSql } from "postgres";
import { keysOf } from "#shared/keys-of.ts";
import { AGES } from "../ages.ts";
import { connected } from "../database.ts";
import { MIGRATIONS_DIRECTORY, migrate } from "../migrate.ts";
import { type BackupHeader, type BackupPart, readBackup } from "./backup.ts";
import { isUsed, load, partName, requireIdle, requireSame } from "./parts.ts";

/** What was ended in the present database after the backup was taken, and is back. Names. */
export type BroughtBack = Record<keyof typeof ENDED, string[]>;

export type Restored = {
  header: BackupHeader;
  rows: number;
  /** Null: the database was empty, so what ended since is not known. */
  broughtBack: BroughtBack | null;
  /** False: the database has an installation, which is to be replaced only if asked for. */
  done: boolean;
};

export type Restoring = { url: string; file: string; replaces: boolean; onPart(name: string): void };

/**
 * Restores a backup in one transaction, and compares each part with what the backup says of it. Without `replaces`, a
 * database that has an installation stays as it is, and the result says what a restore would bring back. Afterwards the
 * GitHub App reads all pull requests that have changed since.
 * @throws Error that says what to do
 */
export const restoreBackup = ({ url, file, replaces, onPart }: Restoring): Promise<Restored> =>
  readBackup(file, async (header, parts) => {
    const isEarlier = await migrateTo(url, header.migration);
    return await connected(url, { name: "restore", statementTimeoutMs: 0 }, async (client) => {
      const restored = await client
        .begin(async (tx) => {
          const used = await isFit(tx, header, isEarlier);
          const before = used ? await idsBefore(tx) : null;
          const rows = await loadAll(tx, parts, onPart);
          const broughtBack = before && (await backIn(tx, before));
          const restored = { header, rows, broughtBack, done: !used || replaces };
          if (!restored.done) throw new Undone(restored);
          return restored;
        })
        .catch((error) => {
          if (error instanceof Undone) return error.restored;
          throw error;
        });
      if (!restored.done) return restored;
      if (isEarlier) await migrate(url);
      await client`update github_passes set due_at = now(), etag = null`;
      return restored;
    });
  });

/** Whether an installation has begun to use the database. @throws Error if the backup cannot be restored into it. */
async function isFit(tx: TransactionSql, header: BackupHeader, isEarlier: boolean): Promise<boolean> {
  await requireIdle(tx, "The database");
  const used = await isUsed(tx);
  const [last] = await tx<
    { at: number }[]
  >`select max(created_at)::float8 as at from drizzle.__drizzle_migrations`;
  if (isEarlier && (used || last?.at !== header.migration)) throw new Error(EARLIER);
  return used;
}

/** Replaces all rows; returns how many there are then. */
async function loadAll(
  tx: TransactionSql,
  parts: AsyncIterable<BackupPart>,
  onPart: Restoring["onPart"],
): Promise<number> {
  let rows = 0;
  await clear(tx);
  for await (const { part, expected, rows: own } of parts) {
    if (!(part.table in AGES))
      throw new Error(`The backup has a table that this version lacks: ${part.table}.`);
    onPart(partName(part));
    await load(tx, part, own);
    await requireSame(tx, part, expected);
    rows += expected.rows;
  }
  return rows;
}

/** Rolls the transaction back. */
class Undone extends Error {
  readonly restored: Restored;
  constructor(restored: Restored) {
    super("undone");
    this.restored = restored;
  }
}

const EARLIER = "The backup is of an earlier version of Tallygate. Restore it into a new, empty database.";

/** Brings the database to the backup's version; true if that is an earlier one. @throws Error if it cannot be that. */
async function migrateTo(url: string, migration: number): Promise<boolean> {
  const journal: { entries: { when: number }[] } = JSON.parse(
    readFileSync(join(MIGRATIONS_DIRECTORY, JOURNAL), "utf8"),
  );
  const index = journal.entries.findIndex(({ when }) => when === migration);
  if (index < 0)
    throw new Error("The backup is of a later version of Tallygate. Restore it with that version.");
  if (index === journal.entries.length - 1) {
    await migrate(url);
    return false;
  }
  const directory = await mkdtemp(join(tmpdir(), "tallygate-migrations-"));
  try {
    cpSync(MIGRATIONS_DIRECTORY, directory, { recursive: true });
    const entries = journal.entries.slice(0, index + 1);
    writeFileSync(join(directory, JOURNAL), JSON.stringify({ ...journal, entries }));
    await migrate(url, directory);
    return true;
  } finally {
    await rm(directory, { recursive: true });
  }
}
const JOURNAL = "meta/_journal.json";

async function clear(tx: TransactionSql): Promise<void> {
  const tables = await tx<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;
  await tx.unsafe(`truncate ${tables.map(({ name }) => name).join(", ")}`);
}

/** Ids of what has ended, or of what has not; and, after a restore, the names of what is back by them (`$1`). */
const ENDED = {
  keys: {
    before: "select id from keys where revoked_at is not null",
    back: "select name from keys where revoked_at is null and id = any($1::text::uuid[]) order by 1",
  },
  secrets: {
    before: "select id from key_secrets",
    back: `select distinct k.name from key_secrets s join keys k on k.org_id = s.org_id and k.id = s.key_id
      where s.id <> all($1::text::uuid[]) and (s.expires_at is null or s.expires_at > now()) order by 1`,
  },
  tokens: {
    before: "select id from admin_tokens",
    back: "select name from admin_tokens where id <> all($1::text::uuid[]) and expires_at > now() order by 1",
  },
  people: {
    before: "select id from people where disabled",
    back: "select email as name from people where not disabled and id = any($1::text::uuid[]) order by 1",
  },
};
const KINDS = keysOf(ENDED);

async function idsBefore(tx: TransactionSql): Promise<BroughtBack> {
  const ids: BroughtBack = { keys: [], secrets: [], tokens: [], people: [] };
  for (const kind of KINDS) {
    ids[kind] = (await tx.unsafe<{ id: string }[]>(ENDED[kind].before)).map(({ id }) => id);
  }
  return ids;
}

async function backIn(tx: TransactionSql, before: BroughtBack): Promise<BroughtBack> {
  const names: BroughtBack = { ...before };
  for (const kind of KINDS) {
    const rows = await tx.unsafe<{ name: string }[]>(ENDED[kind].back, [`{${before[kind].join()}}`]);
    names[kind] = rows.map(({ name }) => name);
  }
  return names;
}
