import { and, eq, gt, inArray } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { roleMappings } from "#drizzle/schema/identity.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Reader } from "../change.ts";
import type { Slice } from "../slice.ts";

export type RoleMappingRow = typeof roleMappings.$inferSelect;

const isOurs = eq(roleMappings.orgId, DEFAULT_ORG);
const isOf = (group: string) => and(isOurs, eq(roleMappings.group, group));

/** By group. */
export const listRoleMappings = (reader: Reader, { after, limit }: Slice): Promise<RoleMappingRow[]> =>
  reader
    .select()
    .from(roleMappings)
    .where(and(isOurs, after === null ? undefined : gt(roleMappings.group, after)))
    .orderBy(roleMappings.group)
    .limit(limit);

export async function findRoleMapping(reader: Reader, group: string): Promise<RoleMappingRow | null> {
  const [row] = await reader.select().from(roleMappings).where(isOf(group));
  return row ?? null;
}

/** Inserts the row, or replaces the one of its group. */
export async function writeRoleMapping(tx: Transaction, row: RoleMappingRow): Promise<void> {
  await tx
    .insert(roleMappings)
    .values(row)
    .onConflictDoUpdate({ target: [roleMappings.orgId, roleMappings.group], set: row });
}

/** The row that is gone; null if there was none. */
export async function deleteRoleMapping(tx: Transaction, group: string): Promise<RoleMappingRow | null> {
  const [row] = await tx.delete(roleMappings).where(isOf(group)).returning();
  return row ?? null;
}

/** The mappings of some groups, by group. */
export const roleMappingsOf = async (reader: Reader, groups: readonly string[]): Promise<RoleMappingRow[]> =>
  groups.length === 0
    ? []
    : await reader
        .select()
        .from(roleMappings)
        .where(and(isOurs, inArray(roleMappings.group, [...groups])))
        .orderBy(roleMappings.group);
