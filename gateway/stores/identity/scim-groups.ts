import { count, eq, sql } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { given, joinedOn, ours } from "#drizzle/ours.ts";
import { people, scimGroupMembers, scimGroups, signInAccounts } from "#drizzle/schema/identity.ts";
import { isId } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import { keyedRows } from "../rows.ts";
import type { PersonRow } from "./people.ts";

export type ScimGroupRow = typeof scimGroups.$inferSelect;
export type ScimMember = { groupId: string; id: string; email: string };

const groups = keyedRows(scimGroups, "id");

/** Oldest first, with the number of all that there are; `name` and `externalId` null: any. */
export async function pageOfScimGroups(
  reader: Reader,
  it: { name: string | null; externalId: string | null; offset: number; limit: number },
): Promise<{ rows: ScimGroupRow[]; total: number }> {
  const isNamed = it.name === null ? undefined : eq(sql`lower(${scimGroups.name})`, sql`lower(${it.name})`);
  const isWanted = ours(scimGroups, given({ externalId: it.externalId }), isNamed);
  const [counted] = await reader.select({ total: count() }).from(scimGroups).where(isWanted);
  const rows = await reader
    .select()
    .from(scimGroups)
    .where(isWanted)
    .orderBy(scimGroups.id)
    .offset(it.offset)
    .limit(it.limit);
  return { rows, total: counted?.total ?? 0 };
}

/** `writeScimGroup` throws an error of the database if the name is taken. */
export const { find: findScimGroup, write: writeScimGroup } = groups;

export async function deleteScimGroup(tx: Transaction, id: string): Promise<void> {
  await tx.delete(scimGroupMembers).where(ours(scimGroupMembers, { groupId: id }));
  await groups.remove(tx, id);
}

/** The members of groups, in the order of their ids. */
export const scimMembersOf = (reader: Reader, groupIds: readonly string[]): Promise<ScimMember[]> =>
  reader
    .select({ groupId: scimGroupMembers.groupId, id: people.id, email: people.email })
    .from(scimGroupMembers)
    .innerJoin(people, joinedOn(people.id, scimGroupMembers.personId))
    .where(ours(scimGroupMembers, { groupId: [...groupIds] }))
    .orderBy(people.id);

/** Replaces the members of a group; ids that no person has are left out. */
export async function setScimMembers(
  tx: Transaction,
  groupId: string,
  ids: ReadonlySet<string>,
): Promise<void> {
  await tx.delete(scimGroupMembers).where(ours(scimGroupMembers, { groupId }));
  if (ids.size === 0) return;
  const isKnown = ours(people, { id: [...ids].filter(isId) });
  const known = await tx.select({ personId: people.id }).from(people).where(isKnown);
  if (known.length > 0) {
    await tx.insert(scimGroupMembers).values(known.map(({ personId }) => ({ groupId, personId })));
  }
}

export async function scimGroupsOf(reader: Reader, personId: string): Promise<string[]> {
  const rows = await reader
    .select({ name: scimGroups.name })
    .from(scimGroupMembers)
    .innerJoin(scimGroups, joinedOn(scimGroups.id, scimGroupMembers.groupId))
    .where(ours(scimGroupMembers, { personId }));
  return rows.map(({ name }) => name);
}

/** The people of a group, by the directory or by their last sign-in elsewhere. */
export async function peopleOfGroup(reader: Reader, name: string): Promise<PersonRow[]> {
  const inDirectory = reader
    .select({ id: scimGroupMembers.personId })
    .from(scimGroupMembers)
    .innerJoin(scimGroups, joinedOn(scimGroups.id, scimGroupMembers.groupId))
    .where(ours(scimGroups, { name }));
  const bySignIn = reader
    .select({ id: signInAccounts.personId })
    .from(signInAccounts)
    .where(ours(signInAccounts, {}, sql`${name} = any(${signInAccounts.groups})`));
  const ids = [...(await inDirectory), ...(await bySignIn)].map(({ id }) => id);
  return ids.length === 0
    ? []
    : await reader
        .select()
        .from(people)
        .where(ours(people, { id: ids }));
}
