import { isNull, lt } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { first, joinedOn, ours } from "#drizzle/ours.ts";
import { keys, refreshTokens } from "#drizzle/schema/keys.ts";
import { newId } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import { newSecret, secretDigest } from "../client-secret.ts";

/** A token that renews the bearers of a key. `keyExpiresAt`: the end that this gives the key, unless an administrator has set one. */
export async function insertRefreshToken(
  tx: Transaction,
  { keyId, keyExpiresAt }: { keyId: string; keyExpiresAt: string },
  now: Date,
): Promise<string> {
  const token = newSecret("tgn_");
  const { sha256 } = secretDigest(token);
  const facts = { id: newId(), keyId, keyExpiresAt, sha256, createdAt: now.toISOString() };
  await tx.insert(refreshTokens).values(facts);
  return token;
}

/** A token, used or not, with its key, unless that is revoked; null: unknown. */
export const findRefreshToken = (reader: Reader, token: string) =>
  first(
    reader
      .select({ token: refreshTokens, key: keys })
      .from(refreshTokens)
      .innerJoin(keys, joinedOn(keys.id, refreshTokens.keyId))
      .where(ours(refreshTokens, { sha256: secretDigest(token).sha256 }, isNull(keys.revokedAt))),
  );

/** Whether a renewal of its sign-in set the key's end, not an administrator. */
export async function isEndOfSignIn(
  reader: Reader,
  { id, expiresAt }: { id: string; expiresAt: string | null },
): Promise<boolean> {
  if (expiresAt === null) return false;
  const isTheirs = ours(refreshTokens, { keyId: id, keyExpiresAt: expiresAt });
  const found = reader.select({ id: refreshTokens.id }).from(refreshTokens).where(isTheirs).limit(1);
  return (await first(found)) !== null;
}

/** Notes the first use of a token, and deletes those of its key that were used before `forgetBefore`. */
export async function noteRefresh(
  tx: Transaction,
  { id, keyId }: { id: string; keyId: string },
  { now, forgetBefore }: { now: Date; forgetBefore: Date },
): Promise<void> {
  const isUnused = ours(refreshTokens, { id, usedAt: null });
  await tx.update(refreshTokens).set({ usedAt: now.toISOString() }).where(isUnused);
  const isOld = lt(refreshTokens.usedAt, forgetBefore.toISOString());
  await tx.delete(refreshTokens).where(ours(refreshTokens, { keyId }, isOld));
}

/** Ends all renewal of a key. */
export async function forgetRefreshTokens(tx: Transaction, keyId: string): Promise<void> {
  await tx.delete(refreshTokens).where(ours(refreshTokens, { keyId }));
}
