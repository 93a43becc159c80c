import { and, desc, eq, lt } from "drizzle-orm";
import { type AUDITED, auditEntries } from "#drizzle/schema/audit.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import type { Reader, Transaction } from "./change.ts";
import type { Slice } from "./slice.ts";

export type AuditRow = typeof auditEntries.$inferSelect;

type Audited = { action: (typeof AUDITED)[number]; subject: string; at: Date };

/** Whoever holds the admin key: it names nobody. */
const ACTOR = "admin key";

/** Writes down what is done in the same transaction: it does not happen unwritten. */
export async function audit(
  tx: Pick<Transaction, "insert">,
  { action, subject, at }: Audited,
): Promise<void> {
  await tx.insert(auditEntries).values({ id: newId(), at: at.toISOString(), actor: ACTOR, action, subject });
}

export const listAudit = (reader: Reader, { after, limit }: Slice): Promise<AuditRow[]> =>
  reader
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.orgId, DEFAULT_ORG), after === null ? undefined : lt(auditEntries.id, after)))
    .orderBy(desc(auditEntries.id))
    .limit(limit);
