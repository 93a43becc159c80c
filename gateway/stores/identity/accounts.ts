import type { Database, Transaction } from "#drizzle/database.ts";
import { first, joinedOn, ours } from "#drizzle/ours.ts";
import { people, signInAccounts } from "#drizzle/schema/identity.ts";
import type { Clock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { auditIn, ownOrigin } from "../audit.ts";
import { ownChange, type Reader } from "../change.ts";
import { withStoreErrors } from "../store-errors.ts";
import type { PersonRow } from "./people.ts";

/** An account elsewhere: the way in, who keeps the account (OIDC issuer, SAML entity id, GitHub host), and its id there. */
export type AccountElsewhere = { way: string; issuer: string; accountId: string };
export type AccountRow = typeof signInAccounts.$inferSelect;

const isAccount = ({ way: providerId, issuer, accountId }: AccountElsewhere) =>
  ours(signInAccounts, { providerId, issuer, accountId });

/** The account's person; null: no one has signed in with it. */
export async function findPersonByAccount(reader: Reader, it: AccountElsewhere): Promise<PersonRow | null> {
  const [found] = await reader
    .select({ person: people })
    .from(signInAccounts)
    .innerJoin(people, joinedOn(people.id, signInAccounts.personId))
    .where(isAccount(it));
  return found?.person ?? null;
}

/** A person's accounts, the oldest first. */
export const accountsOf = (reader: Reader, personId: string): Promise<AccountRow[]> =>
  reader.select().from(signInAccounts).where(ours(signInAccounts, { personId })).orderBy(signInAccounts.id);

/** Stores an account of a person, with the groups that its sign-in named (null: as before). Stores no token of the account. */
export async function keepAccount(
  tx: Transaction,
  it: AccountElsewhere,
  { personId, groups, now }: { personId: string; groups: string[] | null; now: Date },
): Promise<void> {
  const changed = { ...(groups && { groups }), updatedAt: now };
  const updated = await tx.update(signInAccounts).set(changed).where(isAccount(it)).returning();
  if (updated.length > 0) return;
  const { way: providerId, issuer, accountId } = it;
  const row = { id: newId(), personId, providerId, issuer, accountId, createdAt: now, ...changed };
  await tx.insert(signInAccounts).values(row);
}

/** Unlinks an account of a person; null: the person has no such account. */
export const deleteAccount = (tx: Transaction, personId: string, id: string): Promise<AccountRow | null> =>
  first(tx.delete(signInAccounts).where(ours(signInAccounts, { personId, id })).returning());

/** Gives an account to another person. */
export const moveAccount = (
  tx: Transaction,
  id: string,
  { personId, now }: { personId: string; now: Date },
): PromiseLike<unknown> =>
  tx.update(signInAccounts).set({ personId, updatedAt: now }).where(ours(signInAccounts, { id }));

/**
 * Gives the accounts that an earlier version stored without an issuer the one that is configured now, by way in; those of
 * a way that is not configured sign no one in any more.
 */
export async function settleIssuers(
  database: Database,
  issuers: Readonly<Record<string, string | null>>,
  clock: Clock,
): Promise<void> {
  const isOpen = ours(signInAccounts, { issuer: null });
  const open = await withStoreErrors(() => database.db.select().from(signInAccounts).where(isOpen).limit(1));
  if (open.length === 0) return;
  await ownChange(database, async (tx) => {
    const audit = auditIn(tx, ownOrigin("environment", clock.now()));
    const ways = { way: signInAccounts.providerId };
    for (const { way } of await tx.selectDistinct(ways).from(signInAccounts).where(isOpen)) {
      const issuer = issuers[way] ?? "";
      const ofWay = ours(signInAccounts, { issuer: null, providerId: way });
      const { count: accounts } = await tx.update(signInAccounts).set({ issuer }).where(ofWay);
      await audit({ action: "account.issuer_set", subject: way, after: { issuer, accounts } });
    }
  });
}
