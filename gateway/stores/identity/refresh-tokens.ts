import { and, eq, isNull, lt } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { keys, refreshTokens } from "#drizzle/schema/keys.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import { newSecret, secretDigest } from "../client-secret.ts";

const isOurs = eq(refreshTokens.orgId, DEFAULT_ORG);

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
export async function findRefreshToken(reader: Reader, token: string) {
  const [found] = await reader
    .select({ token: refreshTokens, key: keys })
    .from(refreshTokens)
    .innerJoin(keys, and(eq(keys.orgId, refreshTokens.orgId), eq(keys.id, refreshTokens.keyId)))
    .where(and(isOurs, eq(refreshTokens.sha256, secretDigest(token).sha256), isNull(keys.revokedAt)));
  return found ?? null;
}

/** Whether a renewal of its sign-in set the key's end, not an administrator. */
export async function isEndOfSignIn(
  reader: Reader,
  { id, expiresAt }: { id: string; expiresAt: string | null },
): Promise<boolean> {
  if (expiresAt === null) return false;
  const isTheirs = and(isOurs, eq(refreshTokens.keyId, id), eq(refreshTokens.keyExpiresAt, expiresAt));
  return (
    (await reader.select({ id: refreshTokens.id }).from(refreshTokens).where(isTheirs).limit(1)).length > 0
  );
}

/** Notes the first use of a token, and deletes those of its key that were used before `forgetBefore`. */
export async function noteRefresh(
  tx: Transaction,
  { id, keyId }: { id: string; keyId: string },
  { now, forgetBefore }: { now: Date; forgetBefore: Date },
): Promise<void> {
  const isUnused = and(isOurs, eq(refreshTokens.id, id), isNull(refreshTokens.usedAt));
  await tx.update(refreshTokens).set({ usedAt: now.toISOString() }).where(isUnused);
  const isOld = lt(refreshTokens.usedAt, forgetBefore.toISOString());
  await tx.delete(refreshTokens).where(and(isOurs, eq(refreshTokens.keyId, keyId), isOld));
}

/** Ends all renewal of a key. */
export async function forgetRefreshTokens(tx: Transaction, keyId: string): Promise<void> {
  await tx.delete(refreshTokens).where(and(isOurs, eq(refreshTokens.keyId, keyId)));
}
