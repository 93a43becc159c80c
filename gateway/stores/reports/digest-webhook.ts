import { randomBytes } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { eq } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { digestWebhooks } from "#drizzle/schema/feedback.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { closed, fits } from "#shared/schema.ts";
import type { Reader } from "../change.ts";
import type { SealContext, Sealer } from "../seal.ts";
import { withStoreErrors } from "../store-errors.ts";

const Sealed = closed({ url: Type.String(), secret: Type.String() });
const BELONGING: SealContext = { orgId: DEFAULT_ORG, purpose: "digest_webhook" };

export type DigestWebhookRow = Pick<
  typeof digestWebhooks.$inferSelect,
  "host" | "allowPrivateNetwork" | "createdAt"
>;
/** Where digests are posted, and the secret that signs them. Do not store or log it. */
export type DigestWebhook = Static<typeof Sealed> & { allowPrivateNetwork: boolean };

type Db = Pick<Database, "db">;
const isOwn = eq(digestWebhooks.orgId, DEFAULT_ORG);

export const findDigestWebhook = (reader: Reader): Promise<DigestWebhookRow | null> =>
  withStoreErrors(async () => (await reader.select().from(digestWebhooks).where(isOwn))[0] ?? null);

/** The address and its secret; null: none is set, or it was sealed with another master key. */
export const openDigestWebhook = ({ db }: Db, sealer: Sealer): Promise<DigestWebhook | null> =>
  withStoreErrors(async () => {
    const [row] = await db.select().from(digestWebhooks).where(isOwn);
    const text = row ? sealer.open(row.sealed, BELONGING)?.reveal() : undefined;
    const value: unknown = text === undefined ? null : JSON.parse(text);
    return row && fits(Sealed, value) ? { ...value, allowPrivateNetwork: row.allowPrivateNetwork } : null;
  });

/** Sets the address, with a new secret of 256 bits, which is returned only this once. */
export async function putDigestWebhook(
  tx: Transaction,
  sealer: Sealer,
  { url, allowPrivateNetwork, now }: { url: string; allowPrivateNetwork: boolean; now: Date },
): Promise<{ row: DigestWebhookRow; secret: string }> {
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const row = {
    sealed: sealer.seal(JSON.stringify({ url, secret }), BELONGING),
    host: new URL(url).host,
    allowPrivateNetwork,
    createdAt: now.toISOString(),
  };
  await tx.insert(digestWebhooks).values(row).onConflictDoUpdate({ target: digestWebhooks.orgId, set: row });
  return { row, secret };
}

/** The address that was set; null: none was. */
export async function removeDigestWebhook(tx: Transaction): Promise<DigestWebhookRow | null> {
  const [removed] = await tx.delete(digestWebhooks).where(isOwn).returning();
  return removed ?? null;
}
