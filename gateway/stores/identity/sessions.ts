import { and, desc, eq, gt, lt, or, sql } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { first, joinedOn, ours } from "#drizzle/ours.ts";
import { people, personSessions } from "#drizzle/schema/identity.ts";
import type { Role } from "#shared/admin/people.ts";
import type { Reader } from "../change.ts";

export type SessionRow = typeof personSessions.$inferSelect;

/** How long requests under way may still carry the token before the last one. */
const OVERLAP_MS = 30_000;

/** The active session of a token (the current or the previous one), with its person, unless disabled. */
export async function findSession(reader: Reader, token: string, now: Date) {
  const overlap = new Date(now.getTime() - OVERLAP_MS);
  const isItsToken = or(
    eq(personSessions.token, token),
    and(eq(personSessions.previousToken, token), gt(personSessions.rotatedAt, overlap)),
  );
  const found = reader
    .select({ session: personSessions, person: people })
    .from(personSessions)
    .innerJoin(people, joinedOn(people.id, personSessions.personId))
    .where(
      ours(personSessions, {}, isItsToken, gt(personSessions.expiresAt, now), eq(people.disabled, false)),
    );
  return first(found);
}

/** The running sessions of a person, newest first. */
export const listSessions = (reader: Reader, personId: string, now: Date): Promise<SessionRow[]> =>
  reader
    .select()
    .from(personSessions)
    .where(ours(personSessions, { personId }, gt(personSessions.expiresAt, now)))
    .orderBy(desc(personSessions.id));

/** Extends a session that is in use. */
export async function prolongSession(db: Database["db"], id: string, expiresAt: Date): Promise<void> {
  await db.update(personSessions).set({ expiresAt }).where(ours(personSessions, { id }));
}

type Rotation = { id: string; from: string; to: string; role: Role; expiresAt: Date; now: Date };

/** Gives a session another token for another role; false: another request has done it. */
export async function rotateSession(db: Database["db"], it: Rotation): Promise<boolean> {
  const changed = await db
    .update(personSessions)
    .set({
      token: it.to,
      role: it.role,
      previousToken: sql`${personSessions.token}`,
      previousRole: sql`${personSessions.role}`,
      rotatedAt: it.now,
      updatedAt: it.now,
      expiresAt: it.expiresAt,
    })
    .where(ours(personSessions, { id: it.id, token: it.from }));
  return changed.count > 0;
}

/** Ends one session of a person; false if it does not exist. */
export const endSession = async (tx: Transaction, personId: string, id: string): Promise<boolean> =>
  (await tx.delete(personSessions).where(ours(personSessions, { id, personId }))).count > 0;

export async function endSessions(tx: Transaction, personId: string): Promise<void> {
  await tx.delete(personSessions).where(ours(personSessions, { personId }));
}

/** Ends the session of a token, if there is one, and deletes expired sessions. */
export async function clearSessions(tx: Transaction, token: string | null, now: Date): Promise<void> {
  const isOver = lt(personSessions.expiresAt, now);
  const isReplaced = token === null ? undefined : eq(personSessions.token, token);
  await tx.delete(personSessions).where(ours(personSessions, {}, or(isOver, isReplaced)));
}
