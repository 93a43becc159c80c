import { desc, eq, gt, lt, or, sql } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { first, ours } from "#drizzle/ours.ts";
import { type people, personSessions } from "#drizzle/schema/identity.ts";
import type { Role } from "#shared/admin/people.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Reader } from "../change.ts";

export type SessionRow = typeof personSessions.$inferSelect;

/** Requests under way may carry the token before the last one for another 30 s. */
const ACTIVE = `select s.id, s.token_sha256 as token, s.role, s.previous_role as "previousRole", s.way,
  s.created_at as "createdAt", s.expires_at as "expiresAt", json_build_object('id', p.id, 'email', p.email, 'name', p.name,
    'team', p.team, 'githubLogin', p.github_login, 'role', p.role) as person
from person_sessions s join people p on p.org_id = s.org_id and p.id = s.person_id
where s.org_id = $1 and s.expires_at > $3::timestamptz and not p.disabled and (s.token_sha256 = $2
  or (s.previous_token_sha256 = $2 and s.rotated_at > $3::timestamptz - interval '30 seconds'))`;

type Shown = "id" | "token" | "role" | "previousRole" | "way" | "createdAt" | "expiresAt";
type Person = Pick<typeof people.$inferSelect, "id" | "email" | "name" | "team" | "githubLogin" | "role">;

/**
 * The active session of a token (the current or the previous one, by its digest), with its person, unless disabled. Each request of a
 * person asks for it: not prepared, it took two thirds of the time of an answer that is kept.
 */
export const findSession = ({ sql }: Pick<Database, "sql">, digest: string, now: Date) =>
  first(
    sql.unsafe<(Pick<SessionRow, Shown> & { person: Person })[]>(ACTIVE, [DEFAULT_ORG, digest, now], {
      prepare: true,
    }),
  );

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
