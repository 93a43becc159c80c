import { and, desc, eq, gt, lt } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { adminTokens } from "#drizzle/schema/identity.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import { newSecret, secretDigest } from "../client-secret.ts";
import type { Slice } from "../slice.ts";

export type TokenRow = typeof adminTokens.$inferSelect;

const isOurs = eq(adminTokens.orgId, DEFAULT_ORG);

/** Newest first. */
export const listTokens = (reader: Reader, { after, limit }: Slice): Promise<TokenRow[]> =>
  reader
    .select()
    .from(adminTokens)
    .where(and(isOurs, after === null ? undefined : lt(adminTokens.id, after)))
    .orderBy(desc(adminTokens.id))
    .limit(limit);

/** The token with this secret, if it has not expired. */
export async function findToken(reader: Reader, secret: string, now: Date): Promise<TokenRow | null> {
  const { sha256 } = secretDigest(secret);
  const isIt = and(isOurs, eq(adminTokens.sha256, sha256), gt(adminTokens.expiresAt, now.toISOString()));
  const [row] = await reader.select().from(adminTokens).where(isIt);
  return row ?? null;
}

type TokenFacts = Pick<TokenRow, "name" | "role" | "team" | "expiresAt">;

/** Makes a token. Its secret is in the answer and nowhere else. */
export async function insertToken(
  tx: Transaction,
  facts: TokenFacts,
  now: Date,
): Promise<{ row: TokenRow; secret: string }> {
  const secret = newSecret("tga_");
  const [row] = await tx
    .insert(adminTokens)
    .values({ ...facts, id: newId(), ...secretDigest(secret), createdAt: now.toISOString() })
    .returning();
  if (!row) throw new Error("An inserted row was not returned.");
  return { row, secret };
}

/** The row that is gone; null if there was none. */
export async function deleteToken(tx: Transaction, id: string): Promise<TokenRow | null> {
  const [row] = await tx
    .delete(adminTokens)
    .where(and(isOurs, eq(adminTokens.id, id)))
    .returning();
  return row ?? null;
}

export async function findTokenNamed(reader: Reader, name: string): Promise<TokenRow | null> {
  const [row] = await reader
    .select()
    .from(adminTokens)
    .where(and(isOurs, eq(adminTokens.name, name)));
  return row ?? null;
}
