import { gt, lt } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { signInVerifications } from "#drizzle/schema/identity.ts";
import { storedEmail } from "#shared/admin/people.ts";
import { SIGN_IN_LINK_MINUTES } from "#shared/admin/sign-in-links.ts";
import { newId } from "#shared/ids.ts";
import { newSecret } from "../client-secret.ts";

/** The token of a link for the first administrator, who is not named yet. */
const FIRST = /^tgf_[0-9A-Za-z]{43}$/;
const NAMED = /^tgl_[0-9A-Za-z]{43}$/;

const identifierOf = (token: string): string =>
  `sign-in-link ${new Bun.CryptoHasher("sha256").update(token).digest("hex")}`;

/** Keeps a new link for `email`, or for whoever becomes the first administrator (null). */
export async function insertSignInLink(
  tx: Transaction,
  email: string | null,
  now: Date,
): Promise<{ token: string; expiresAt: Date }> {
  const token = newSecret(email === null ? "tgf_" : "tgl_");
  const expiresAt = new Date(now.getTime() + SIGN_IN_LINK_MINUTES * 60_000);
  await tx.insert(signInVerifications).values({
    id: newId(),
    identifier: identifierOf(token),
    value: email === null ? "" : storedEmail(email),
    expiresAt,
    createdAt: now,
    updatedAt: now,
  });
  return { token, expiresAt };
}

/** Consumes a link. @returns the e-mail that it names (null: none yet); undefined: no such link, or expired. */
export async function useSignInLink(
  tx: Transaction,
  token: string,
  now: Date,
): Promise<{ email: string | null } | undefined> {
  if (!FIRST.test(token) && !NAMED.test(token)) return undefined;
  const { expiresAt } = signInVerifications;
  await tx.delete(signInVerifications).where(ours(signInVerifications, {}, lt(expiresAt, now)));
  const [used] = await tx
    .delete(signInVerifications)
    .where(ours(signInVerifications, { identifier: identifierOf(token) }, gt(expiresAt, now)))
    .returning({ email: signInVerifications.value });
  return used && { email: used.email === "" ? null : used.email };
}
