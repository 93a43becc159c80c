import { gt, lt } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { signInVerifications } from "#drizzle/schema/identity.ts";
import { newId } from "#shared/ids.ts";
import { newSecret } from "../client-secret.ts";

/** How long a browser has between the answer that it posts and the request that follows. */
const SECONDS = 60;

const CODE = /^tgr_[0-9A-Za-z]{43}$/;
const PREFIX = "saml-return ";
const identifierOf = (code: string): string =>
  `${PREFIX}${new Bun.CryptoHasher("sha256").update(code).digest("hex")}`;

type Kept = {
  answer: string;
  /** The assertion that it comes from. */
  used: { id: string; issuer: string; endsAt: Date };
  now: Date;
};

/** The row of a used assertion: the same for the same assertion, on every replica. */
function usedId({ id, issuer }: Kept["used"]): string {
  const hex = new Bun.CryptoHasher("sha256").update(JSON.stringify([issuer, id])).digest("hex");
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Keeps a verified answer for a minute, for one use of its code. Null: its assertion was used before. */
export const keepSamlReturn = ({ db }: Database, { answer, used, now }: Kept): Promise<string | null> =>
  db.transaction(async (tx) => {
    await tx
      .delete(signInVerifications)
      .where(ours(signInVerifications, {}, lt(signInVerifications.expiresAt, now)));
    const times = { createdAt: now, updatedAt: now };
    const first = await tx
      .insert(signInVerifications)
      .values({ id: usedId(used), identifier: "saml-assertion", value: "", expiresAt: used.endsAt, ...times })
      .onConflictDoNothing()
      .returning({ id: signInVerifications.id });
    if (first.length === 0) return null;
    const code = newSecret("tgr_");
    await tx.insert(signInVerifications).values({
      id: newId(),
      identifier: identifierOf(code),
      value: answer,
      expiresAt: new Date(now.getTime() + SECONDS * 1000),
      ...times,
    });
    return code;
  });

/** Takes the answer of a code; null: there is none, or it was taken before. */
export async function takeSamlReturn({ db }: Database, code: string, now: Date): Promise<string | null> {
  if (!CODE.test(code)) return null;
  const isValid = gt(signInVerifications.expiresAt, now);
  const [taken] = await db
    .delete(signInVerifications)
    .where(ours(signInVerifications, { identifier: identifierOf(code) }, isValid))
    .returning({ answer: signInVerifications.value });
  return taken?.answer ?? null;
}
