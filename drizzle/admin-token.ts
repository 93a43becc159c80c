import { gt } from "drizzle-orm";
import type { Transaction } from "./database.ts";
import { joinedOn, ours } from "./ours.ts";
import { adminTokens, people } from "./schema/identity.ts";

export type TokenRow = typeof adminTokens.$inferSelect;

/** The maker of tokens that end with no person. */
export const ADMIN_KEY_ACTOR = "admin key";

const TOKEN = /^tga_[0-9A-Za-z]{43}$/;
/** Whether a credential has the form of an admin token. */
export const isTokenForm = (secret: string): boolean => TOKEN.test(secret);

/** The token with this secret, if it has not expired and its maker is still an administrator. */
export async function findToken(
  reader: Pick<Transaction, "select">,
  secret: string,
  now: Date,
): Promise<TokenRow | null> {
  if (!isTokenForm(secret)) return null;
  const sha256 = new Bun.CryptoHasher("sha256").update(secret).digest();
  const [found] = await reader
    .select({ token: adminTokens, maker: people })
    .from(adminTokens)
    .leftJoin(people, joinedOn(people.email, adminTokens.maker))
    .where(ours(adminTokens, { sha256 }, gt(adminTokens.expiresAt, now.toISOString())));
  if (!found) return null;
  const { token, maker } = found;
  const endsWithNobody = token.maker === null || token.maker === ADMIN_KEY_ACTOR;
  return endsWithNobody || (maker?.role === "administrator" && !maker.disabled) ? token : null;
}
