import type { TokenRow } from "#drizzle/admin-token.ts";
import type { Transaction } from "#drizzle/database.ts";
import { first, ours } from "#drizzle/ours.ts";
import { adminTokens } from "#drizzle/schema/identity.ts";
import { newId } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import { newSecret, secretDigest } from "../client-secret.ts";
import { idRows } from "../rows.ts";

export const { list: listTokens, find: findTokenById, remove: deleteToken } = idRows(adminTokens);

export const deleteTokensOf = (tx: Transaction, maker: string): Promise<TokenRow[]> =>
  tx.delete(adminTokens).where(ours(adminTokens, { maker })).returning();

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

export const findTokenNamed = (reader: Reader, name: string): Promise<TokenRow | null> =>
  first(reader.select().from(adminTokens).where(ours(adminTokens, { name })));
