import { count, gt, isNull, lt, lte, or } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { first, ours, type Values } from "#drizzle/ours.ts";
import { deviceSignIns } from "#drizzle/schema/identity.ts";
import { DEVICE_SECONDS, type DeviceProgram } from "#shared/admin/device-sign-ins.ts";
import { newId } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import { secretDigest } from "../client-secret.ts";

export type DeviceSignInRow = typeof deviceSignIns.$inferSelect;

/** Maximum unfinished sign-ins of one address; beyond it, the address gets no codes. An office may share one. */
const PER_ADDRESS_MAX = 100;

const running = (reader: Reader, values: Values<typeof deviceSignIns>, now: Date) => {
  const isRunning = gt(deviceSignIns.expiresAt, now.toISOString());
  const isIt = ours(deviceSignIns, values, isRunning);
  return first(reader.select().from(deviceSignIns).where(isIt));
};
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
    const isExpired = lt(deviceSignIns.expiresAt, now.toISOString());
    await tx.delete(deviceSignIns).where(ours(deviceSignIns, {}, isExpired));
    const ofAddress = ours(deviceSignIns, { address: facts.address });
    const [counted] = await tx.select({ found: count() }).from(deviceSignIns).where(ofAddress);
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
export const findPendingSignIn = (
  reader: Reader,
  userCode: string,
  now: Date,
): Promise<DeviceSignInRow | null> => running(reader, { userCode: digest(userCode), state: "pending" }, now);

/** Stores a person's decision; false: it was already decided. */
export async function decideSignIn(
  tx: Transaction,
  id: string,
  decision: { state: "approved" | "denied"; personId: string },
): Promise<boolean> {
  const isPending = ours(deviceSignIns, { id, state: "pending" });
  return (await tx.update(deviceSignIns).set(decision).where(isPending)).count > 0;
}

/** The sign-in of a device's code; null: it is unknown, used or over. */
export const findDeviceSignIn = (
  reader: Reader,
  deviceCode: string,
  now: Date,
): Promise<DeviceSignInRow | null> => running(reader, { deviceCode: digest(deviceCode) }, now);

/** Notes a poll; false: it comes sooner than `intervalMs` after the last one. */
export async function notePoll(
  db: Database["db"],
  id: string,
  { now, intervalMs }: { now: Date; intervalMs: number },
): Promise<boolean> {
  const latest = new Date(now.getTime() - intervalMs).toISOString();
  const isDue = or(isNull(deviceSignIns.polledAt), lte(deviceSignIns.polledAt, latest));
  const polled = { polledAt: now.toISOString() };
  const isIt = ours(deviceSignIns, { id }, isDue);
  return (await db.update(deviceSignIns).set(polled).where(isIt)).count > 0;
}

/** Consumes an approved sign-in; false: another poll already did. */
export const takeApproved = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.delete(deviceSignIns).where(ours(deviceSignIns, { id, state: "approved" }))).count > 0;
