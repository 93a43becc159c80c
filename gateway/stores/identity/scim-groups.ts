import { and, count, eq, inArray, sql } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { people, scimGroupMembers, scimGroups, signInAccounts } from "#drizzle/schema/identity.ts";
import { DEFAULT_ORG, isId } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import type { PersonRow } from "./people.ts";

export type ScimGroupRow = typeof scimGroups.$inferSelect;
export type ScimMember = { groupId: string; id: string; email: string };

const isOurs = eq(scimGroups.orgId, DEFAULT_ORG);
const isGroup = (id: string) => and(isOurs, eq(scimGroups.id, id));
const isMember = eq(scimGroupMembers.orgId, DEFAULT_ORG);

/** Oldest first, with the number of all that there are; `name` and `externalId` null: any. */
export async function pageOfScimGroups(
  reader: Reader,
  it: { name: string | null; externalId: string | null; offset: number; limit: number },
): Promise<{ rows: ScimGroupRow[]; total: number }> {
  const isWanted = and(
    isOurs,
    it.name === null ? undefined : eq(sql`lower(${scimGroups.name})`, sql`lower(${it.name})`),
    it.externalId === null ? undefined : eq(scimGroups.externalId, it.externalId),
  );
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

export async function findScimGroup(reader: Reader, id: string): Promise<ScimGroupRow | null> {
  const [row] = await reader.select().from(scimGroups).where(isGroup(id));
  return row ?? null;
}

/** @throws an error of the database if the name is taken. */
export async function writeScimGroup(tx: Transaction, row: ScimGroupRow): Promise<void> {
  const target = [scimGroups.orgId, scimGroups.id];
  await tx.insert(scimGroups).values(row).onConflictDoUpdate({ target, set: row });
}

export async function deleteScimGroup(tx: Transaction, id: string): Promise<void> {
  await tx.delete(scimGroupMembers).where(and(isMember, eq(scimGroupMembers.groupId, id)));
  await tx.delete(scimGroups).where(isGroup(id));
}

/** The members of groups, in the order of their ids. */
export const scimMembersOf = (reader: Reader, groupIds: readonly string[]): Promise<ScimMember[]> =>
  reader
    .select({ groupId: scimGroupMembers.groupId, id: people.id, email: people.email })
    .from(scimGroupMembers)
    .innerJoin(
      people,
      and(eq(people.orgId, scimGroupMembers.orgId), eq(people.id, scimGroupMembers.personId)),
    )
    .where(and(isMember, inArray(scimGroupMembers.groupId, [...groupIds])))
    .orderBy(people.id);

/** Replaces the members of a group; ids that no person has are left out. */
export async function setScimMembers(
  tx: Transaction,
  groupId: string,
  ids: ReadonlySet<string>,
): Promise<void> {
  await tx.delete(scimGroupMembers).where(and(isMember, eq(scimGroupMembers.groupId, groupId)));
  if (ids.size === 0) return;
  const known = await tx
    .select({ personId: people.id })
    .from(people)
    .where(and(eq(people.orgId, DEFAULT_ORG), inArray(people.id, [...ids].filter(isId))));
  if (known.length > 0) {
    await tx.insert(scimGroupMembers).values(known.map(({ personId }) => ({ groupId, personId })));
  }
}

/** The names of a person's groups in the directory. */
export async function scimGroupsOf(reader: Reader, personId: string): Promise<string[]> {
  const rows = await reader
    .select({ name: scimGroups.name })
    .from(scimGroupMembers)
    .innerJoin(
      scimGroups,
      and(eq(scimGroups.orgId, scimGroupMembers.orgId), eq(scimGroups.id, scimGroupMembers.groupId)),
    )
    .where(and(isMember, eq(scimGroupMembers.personId, personId)));
  return rows.map(({ name }) => name);
}

/** The people of a group, by the directory or by their last sign-in elsewhere. */
export async function peopleOfGroup(reader: Reader, name: string): Promise<PersonRow[]> {
  const inDirectory = reader
    .select({ id: scimGroupMembers.personId })
    .from(scimGroupMembers)
    .innerJoin(
      scimGroups,
      and(eq(scimGroups.orgId, scimGroupMembers.orgId), eq(scimGroups.id, scimGroupMembers.groupId)),
    )
    .where(and(isMember, eq(scimGroups.name, name)));
  const bySignIn = reader
    .select({ id: signInAccounts.personId })
    .from(signInAccounts)
    .where(and(eq(signInAccounts.orgId, DEFAULT_ORG), sql`${name} = any(${signInAccounts.groups})`));
  const ids = [...(await inDirectory), ...(await bySignIn)].map(({ id }) => id);
  return ids.length === 0
    ? []
    : await reader
        .select()
        .from(people)
        .where(and(eq(people.orgId, DEFAULT_ORG), inArray(people.id, ids)));
}
