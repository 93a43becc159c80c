import { and, eq } from "drizzle-orm";
import type { TokenRow } from "#drizzle/admin-token.ts";
import type { Transaction } from "#drizzle/database.ts";
import { adminTokens } from "#drizzle/schema/identity.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import { newSecret, secretDigest } from "../client-secret.ts";
import { idRows } from "../id-rows.ts";

const isOurs = eq(adminTokens.orgId, DEFAULT_ORG);

export const { list: listTokens, find: findTokenById } = idRows(adminTokens);

/** Deletes the tokens that a person made. */
export const deleteTokensOf = (tx: Transaction, maker: string): Promise<TokenRow[]> =>
  tx
    .delete(adminTokens)
    .where(and(isOurs, eq(adminTokens.maker, maker)))
    .returning();

type TokenFacts = Pick<TokenRow, "name" | "role" | "scopes" | "team" | "repository" | "maker" | "expiresAt">;

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
