import { inArray } from "drizzle-orm";
import { roleMappings } from "#drizzle/schema/identity.ts";
import type { Reader } from "../change.ts";
import { keyedRows } from "../rows.ts";

export type RoleMappingRow = typeof roleMappings.$inferSelect;

export const roleMappingRows = keyedRows(roleMappings, "group");

export const roleMappingsOf = async (reader: Reader, groups: readonly string[]): Promise<RoleMappingRow[]> =>
  groups.length === 0 ? [] : roleMappingRows.all(reader, inArray(roleMappings.group, [...groups]));
