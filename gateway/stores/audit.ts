import { and, desc, eq, gte, lt } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { type AuditAction, type AuditedState, auditEntries } from "#drizzle/schema/audit.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
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

const VALUES_MAX = 500;

/** What there are entries of, each value once. */
export async function auditValues(reader: Pick<Database["db"], "selectDistinct" | "select">) {
  const isOurs = eq(auditEntries.orgId, DEFAULT_ORG);
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
export const listAudit = (
  reader: Pick<Database["db"], "select">,
  filter: AuditFilter,
  { after, limit }: Slice,
): Promise<AuditRow[]> =>
  reader
    .select()
    .from(auditEntries)
    .where(
      and(
        eq(auditEntries.orgId, DEFAULT_ORG),
        after === null ? undefined : lt(auditEntries.id, after),
        filter.actor === null ? undefined : eq(auditEntries.actor, filter.actor),
        filter.action === null ? undefined : eq(auditEntries.action, filter.action),
        filter.subject === null ? undefined : eq(auditEntries.subject, filter.subject),
        filter.from === null ? undefined : gte(auditEntries.at, filter.from),
        filter.to === null ? undefined : lt(auditEntries.at, filter.to),
      ),
    )
    .orderBy(desc(auditEntries.id))
    .limit(limit);
