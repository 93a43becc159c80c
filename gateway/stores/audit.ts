import { desc, gte, lt } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { given, ours } from "#drizzle/ours.ts";
import { type AuditAction, type AuditedState, auditEntries } from "#drizzle/schema/audit.ts";
import { newId } from "#shared/ids.ts";
import { keyedRows } from "./rows.ts";
import type { Slice } from "./slice.ts";

export type AuditRow = typeof auditEntries.$inferSelect;

/** Who makes a change, from where, and when. */
export type Origin = {
  actor: string;
  /** IP address; null: the gateway itself. */
  address: string | null;
  requestId: string | null;
  at: Date;
};

export type AuditEntry = {
  action: AuditAction;
  /** A request's id, or the name or id of what is changed. */
  subject: string;
  /** As the API shows it, without secrets; absent: it did not exist. */
  before?: AuditedState;
  /** As the API shows it, without secrets; absent: it no longer exists. */
  after?: AuditedState;
};

/** Adds an entry to the audit log, in the transaction that makes the change. */
export type Audit = (entry: AuditEntry) => Promise<void>;

/** Changes by the gateway itself, without a caller. */
export const ownOrigin = (actor: "first start" | "environment", at: Date): Origin => ({
  actor,
  address: null,
  requestId: null,
  at,
});

/** The only place that writes the audit log. */
export const auditIn =
  (tx: Pick<Database["db"], "insert">, { at, ...origin }: Origin): Audit =>
  async (entry) => {
    await tx.insert(auditEntries).values({ id: newId(), at: at.toISOString(), ...origin, ...entry });
  };

/** Null: any. */
export type AuditFilter = Record<"actor" | "subject" | "from" | "to", string | null> & {
  action: AuditAction | null;
};

const entries = keyedRows(auditEntries, "id", true);
const VALUES_MAX = 500;

/** What there are entries of, each value once. */
export async function auditValues(reader: Pick<Database["db"], "selectDistinct" | "select">) {
  const isOurs = ours(auditEntries);
  const { actor, action, subject, id } = auditEntries;
  const actors = await reader.selectDistinct({ actor }).from(auditEntries).where(isOurs).orderBy(actor);
  const actions = await reader.selectDistinct({ action }).from(auditEntries).where(isOurs).orderBy(action);
  const latest = reader.select({ subject, id }).from(auditEntries).where(isOurs);
  const subjects = await latest.orderBy(desc(id)).limit(VALUES_MAX);
  return {
    actors: actors.map((row) => row.actor).slice(0, VALUES_MAX),
    actions: actions.map((row) => row.action),
    subjects: [...new Set(subjects.map((row) => row.subject))],
  };
}

/** Newest first. */
export function listAudit(
  reader: Pick<Database["db"], "select">,
  { actor, action, subject, from, to }: AuditFilter,
  slice: Slice,
): Promise<AuditRow[]> {
  const isAfter = from === null ? undefined : gte(auditEntries.at, from);
  const isBefore = to === null ? undefined : lt(auditEntries.at, to);
  const isWanted = ours(auditEntries, given({ actor, action, subject }), isAfter, isBefore);
  return entries.list(reader, slice, isWanted);
}
