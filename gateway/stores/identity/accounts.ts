import { and, eq } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { people, signInAccounts } from "#drizzle/schema/identity.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import type { PersonRow } from "./people.ts";

/** An account elsewhere: the way in, and the account's id there. */
export type AccountElsewhere = { way: string; accountId: string };

/** The account's person; null: no one has signed in with it. */
export async function findPersonByAccount(
  reader: Reader,
  { way, accountId }: AccountElsewhere,
): Promise<PersonRow | null> {
  const isIt = and(eq(signInAccounts.providerId, way), eq(signInAccounts.accountId, accountId));
  const [found] = await reader
    .select({ person: people })
    .from(signInAccounts)
    .innerJoin(people, and(eq(people.orgId, signInAccounts.orgId), eq(people.id, signInAccounts.personId)))
    .where(and(eq(signInAccounts.orgId, DEFAULT_ORG), isIt));
  return found?.person ?? null;
}

/** Stores the account's person; the first person stays. Stores no token of the account. */
export async function keepAccount(
  tx: Transaction,
  { way, accountId }: AccountElsewhere,
  it: { personId: string; now: Date },
): Promise<void> {
  await tx
    .insert(signInAccounts)
    .values({
      id: newId(),
      personId: it.personId,
      providerId: way,
      accountId,
      createdAt: it.now,
      updatedAt: it.now,
    })
    .onConflictDoNothing();
}
