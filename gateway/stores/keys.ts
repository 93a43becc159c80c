import { and, desc, eq, gt, gte, isNull, lte, notInArray, or, type SQL, sql } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { first, joinedOn, ours } from "#drizzle/ours.ts";
import { type KeyLimits, keySecrets, keys } from "#drizzle/schema/keys.ts";
import { keySpend } from "#drizzle/schema/limits.ts";
import type { KeyView } from "#shared/admin/keys.ts";
import { storedEmail } from "#shared/admin/people.ts";
import { newId } from "#shared/ids.ts";
import type { Reader } from "./change.ts";
import { newSecret, secretDigest } from "./client-secret.ts";
import { forgetRefreshTokens } from "./identity/refresh-tokens.ts";
import { awayViews } from "./limits/away-view.ts";
import { keyedRows } from "./rows.ts";
import type { Slice } from "./slice.ts";

type KeyRow = typeof keys.$inferSelect;
const rows = keyedRows(keys, "id", true);
type SecretRow = typeof keySecrets.$inferSelect;
export type KeyWithSecrets = KeyRow & {
  secrets: SecretRow[];
  /** Calls let through while the database was away, if any. */
  away?: NonNullable<KeyView["away"]>;
};

export type KeyFields = Pick<KeyRow, "name" | "owner" | "team" | "scopes" | "expiresAt"> & {
  limits: KeyLimits | null;
  /** Absent: no. */
  service?: boolean;
};

type NewKey = KeyFields & {
  /** Its owner makes it. */
  own?: boolean;
  /** The program that got the key by signing its owner in. */
  program?: KeyRow["program"];
  /** When its first secret ends; absent: never. */
  secretExpiresAt?: string;
};

/** All keys, or an owner's in any case, newest first, with valid secrets; revoked ones too, as records name them. */
export async function listKeys(
  reader: Reader,
  { owner, ...slice }: Slice & { owner: string | null },
  now: Date,
): Promise<KeyWithSecrets[]> {
  return withSecrets(
    reader,
    await rows.list(reader, slice, owner === null ? undefined : isOwner(owner)),
    now,
  );
}

export async function findKey(reader: Reader, id: string, now: Date): Promise<KeyWithSecrets | null> {
  return first(withSecrets(reader, await reader.select().from(keys).where(isKey(id)), now));
}

/** The key that has this secret, which is still valid; null: there is none. */
export async function findKeyOfSecret(reader: Reader, secret: string, now: Date): Promise<KeyRow | null> {
  const { sha256 } = secretDigest(secret);
  const [found] = await reader
    .select({ key: keys })
    .from(keySecrets)
    .innerJoin(keys, joinedOn(keys.id, keySecrets.keyId))
    .where(ours(keySecrets, { sha256 }, isValid(now)));
  return found?.key ?? null;
}

/** The keys of a person that are not revoked, newest first. A key's owner may be written in another case. */
export async function listKeysOf(reader: Reader, email: string, now: Date): Promise<KeyWithSecrets[]> {
  return withSecrets(reader, await rows.all(reader, and(isOwner(email), isNull(keys.revokedAt))), now);
}

/** The names of a person's keys, revoked ones too. */
export async function keyNamesOf(reader: Reader, email: string): Promise<string[]> {
  const found = await reader
    .select({ name: keys.name })
    .from(keys)
    .where(ours(keys, {}, isOwner(email)));
  return found.map(({ name }) => name);
}

const isOwner = (email: string) => eq(sql`lower(${keys.owner})`, storedEmail(email));

/** How a person's keys, revoked ones too, spell the owner. */
export async function spellingsOf(reader: Reader, email: string): Promise<string[]> {
  const isTheirs = ours(keys, {}, isOwner(email));
  const found = await reader.selectDistinct({ owner: keys.owner }).from(keys).where(isTheirs);
  return [...new Set([email, ...found.map(({ owner }) => owner ?? email)])];
}

/** Spend of keys since a day (UTC), by key, in exact USD. */
export async function spentSince(reader: Reader, ids: string[], day: string): Promise<Map<string, string>> {
  const spent = await reader
    .select({ keyId: keySpend.keyId, usd: sql<string>`sum(${keySpend.usd})::text` })
    .from(keySpend)
    .where(ours(keySpend, { keyId: ids }, gte(keySpend.day, day)))
    .groupBy(keySpend.keyId);
  return new Map(spent.map(({ keyId, usd }) => [keyId, usd]));
}

const isKey = (id: string) => ours(keys, { id });
const secretsOf = (keyId: string | string[], where?: SQL) => ours(keySecrets, { keyId }, where);
const isValid = (now: Date) => or(isNull(keySecrets.expiresAt), gt(keySecrets.expiresAt, now.toISOString()));

async function withSecrets(reader: Reader, rows: KeyRow[], now: Date): Promise<KeyWithSecrets[]> {
  const ids = rows.map(({ id }) => id);
  const areTheirs = secretsOf(ids, isValid(now));
  const found = await reader.select().from(keySecrets).where(areTheirs).orderBy(desc(keySecrets.id));
  const away = await awayViews(reader, rows, now);
  return rows.map((row) => {
    const ofKey = away.get(row.id);
    const secrets = found.filter(({ keyId }) => keyId === row.id);
    return { ...row, secrets, ...(ofKey && { away: ofKey }) };
  });
}

/** Makes a key. The secret is in the answer and nowhere else: only its digest is stored. */
export async function insertKey(
  tx: Transaction,
  { secretExpiresAt, ...facts }: NewKey,
  now: Date,
): Promise<{ id: string; secret: string }> {
  const id = newId();
  await tx.insert(keys).values({ ...facts, id, createdAt: now.toISOString() });
  return { id, secret: await insertSecret(tx, id, { now, expiresAt: secretExpiresAt }) };
}

async function insertSecret(
  tx: Transaction,
  keyId: string,
  { now, expiresAt = null }: { now: Date; expiresAt?: string | null | undefined },
): Promise<string> {
  const secret = newSecret("tg_");
  await tx
    .insert(keySecrets)
    .values({ id: newId(), keyId, ...secretDigest(secret), expiresAt, createdAt: now.toISOString() });
  return secret;
}

/** A further secret that ends by itself. Only the `most` newest secrets of the key remain. */
export async function addSecret(
  tx: Transaction,
  keyId: string,
  { now, expiresAt, most }: { now: Date; expiresAt: string; most: number },
): Promise<string> {
  const secret = await insertSecret(tx, keyId, { now, expiresAt });
  const newest = tx
    .select({ id: keySecrets.id })
    .from(keySecrets)
    .where(secretsOf(keyId))
    .orderBy(desc(keySecrets.id))
    .limit(most);
  const isOver = or(lte(keySecrets.expiresAt, now.toISOString()), notInArray(keySecrets.id, newest));
  await tx.delete(keySecrets).where(secretsOf(keyId, isOver));
  return secret;
}

/** Moves the end of a key. */
export const extendKey = (tx: Transaction, id: string, expiresAt: string) =>
  tx.update(keys).set({ expiresAt }).where(isKey(id));

export async function updateKey(tx: Transaction, id: string, facts: KeyFields): Promise<void> {
  await tx.update(keys).set(facts).where(isKey(id));
}

/** A second secret for the key; a sign-in that renewed it ends. Those it has stay valid until the grace ends, or until the end they already had. */
export async function rotateKey(
  tx: Transaction,
  id: string,
  { now, graceSeconds }: { now: Date; graceSeconds: number },
): Promise<string> {
  const graceEndsAt = new Date(now.getTime() + graceSeconds * 1000).toISOString();
  const lasting = or(isNull(keySecrets.expiresAt), gt(keySecrets.expiresAt, graceEndsAt));
  await tx.update(keySecrets).set({ expiresAt: graceEndsAt }).where(secretsOf(id, lasting));
  await tx.delete(keySecrets).where(secretsOf(id, lte(keySecrets.expiresAt, now.toISOString())));
  await forgetRefreshTokens(tx, id);
  return insertSecret(tx, id, { now });
}

/** Revokes the key and deletes its secrets. Its name and id stay, for the records. */
export async function revokeKey(tx: Transaction, id: string, now: Date): Promise<void> {
  await tx
    .update(keys)
    .set({ revokedAt: now.toISOString() })
    .where(ours(keys, { id, revokedAt: null }));
  await tx.delete(keySecrets).where(secretsOf(id));
  await forgetRefreshTokens(tx, id);
}
