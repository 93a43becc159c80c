import type { Transaction } from "#drizzle/database.ts";
import { type AuditAction, type AuditedState, auditEntries } from "#drizzle/schema/audit.ts";
import { newId } from "#shared/ids.ts";

/** Who does something on the set-up page, and when. */
export type SetupOrigin = { address: string | null; now: Date };

/** Adds an entry to the audit log, in the transaction that makes the change. */
export async function noteOnPage(
  tx: Pick<Transaction, "insert">,
  { address, now }: SetupOrigin,
  entry: { action: AuditAction; subject: string; before?: AuditedState; after?: AuditedState },
): Promise<void> {
  const origin = { actor: "set-up page", address, requestId: null };
  await tx.insert(auditEntries).values({ id: newId(), at: now.toISOString(), ...origin, ...entry });
}
