import { and, count, eq, gt, isNull, lt, lte, or } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { deviceSignIns } from "#drizzle/schema/identity.ts";
import { DEVICE_SECONDS, type DeviceProgram } from "#shared/admin/device-sign-ins.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import { secretDigest } from "../client-secret.ts";

export type DeviceSignInRow = typeof deviceSignIns.$inferSelect;

/** Maximum unfinished sign-ins of one address; beyond it, the address gets no codes. An office may share one. */
const PER_ADDRESS_MAX = 100;

const isOurs = eq(deviceSignIns.orgId, DEFAULT_ORG);
const isRunning = (now: Date) => and(isOurs, gt(deviceSignIns.expiresAt, now.toISOString()));
const digest = (code: string): Uint8Array => secretDigest(code).sha256;

export type NewDeviceSignIn = {
  deviceCode: string;
  userCode: string;
  program: DeviceProgram | null;
  deviceName: string | null;
  address: string | null;
};

/** Stores a new sign-in and deletes expired ones; false: its address has too many already. */
export const insertDeviceSignIn = (
  database: Database,
  { deviceCode, userCode, ...facts }: NewDeviceSignIn,
  now: Date,
): Promise<boolean> =>
  database.db.transaction(async (tx) => {
    await tx.delete(deviceSignIns).where(and(isOurs, lt(deviceSignIns.expiresAt, now.toISOString())));
    const { address } = facts;
    const ofAddress = address === null ? isNull(deviceSignIns.address) : eq(deviceSignIns.address, address);
    const [counted] = await tx.select({ found: count() }).from(deviceSignIns).where(and(isOurs, ofAddress));
    if ((counted?.found ?? 0) >= PER_ADDRESS_MAX) return false;
    await tx.insert(deviceSignIns).values({
      id: newId(),
      ...facts,
      deviceCode: digest(deviceCode),
      userCode: digest(userCode),
      expiresAt: new Date(now.getTime() + DEVICE_SECONDS * 1000).toISOString(),
      createdAt: now.toISOString(),
    });
    return true;
  });

/** The undecided sign-in that a person's code names, or null. */
export async function findPendingSignIn(
  reader: Reader,
  userCode: string,
  now: Date,
): Promise<DeviceSignInRow | null> {
  const isIt = and(eq(deviceSignIns.userCode, digest(userCode)), eq(deviceSignIns.state, "pending"));
  const [row] = await reader
    .select()
    .from(deviceSignIns)
    .where(and(isRunning(now), isIt));
  return row ?? null;
}

/** Stores a person's decision; false: it was already decided. */
export async function decideSignIn(
  tx: Transaction,
  id: string,
  decision: { state: "approved" | "denied"; personId: string },
): Promise<boolean> {
  const isPending = and(isOurs, eq(deviceSignIns.id, id), eq(deviceSignIns.state, "pending"));
  const decided = await tx.update(deviceSignIns).set(decision).where(isPending).returning();
  return decided.length > 0;
}

/** The sign-in of a device's code; null: it is unknown, used or over. */
export async function findDeviceSignIn(
  reader: Reader,
  deviceCode: string,
  now: Date,
): Promise<DeviceSignInRow | null> {
  const isIt = eq(deviceSignIns.deviceCode, digest(deviceCode));
  const [row] = await reader
    .select()
    .from(deviceSignIns)
    .where(and(isRunning(now), isIt));
  return row ?? null;
}

/** Notes a poll; false: it comes sooner than `intervalMs` after the last one. */
export async function notePoll(
  db: Database["db"],
  id: string,
  { now, intervalMs }: { now: Date; intervalMs: number },
): Promise<boolean> {
  const latest = new Date(now.getTime() - intervalMs).toISOString();
  const isDue = or(isNull(deviceSignIns.polledAt), lte(deviceSignIns.polledAt, latest));
  const noted = await db
    .update(deviceSignIns)
    .set({ polledAt: now.toISOString() })
    .where(and(isOurs, eq(deviceSignIns.id, id), isDue))
    .returning({ id: deviceSignIns.id });
  return noted.length > 0;
}

/** Consumes an approved sign-in; false: another poll already did. */
export async function takeApproved(tx: Transaction, id: string): Promise<boolean> {
  const isApproved = and(isOurs, eq(deviceSignIns.id, id), eq(deviceSignIns.state, "approved"));
  return (await tx.delete(deviceSignIns).where(isApproved).returning({ id: deviceSignIns.id })).length > 0;
}
