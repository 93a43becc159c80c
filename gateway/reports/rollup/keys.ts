import type { DimensionName } from "#shared/report.ts";
import type { Context } from "./context.ts";
import { billedSql } from "./kinds.ts";

/** The columns of cells and of records that tell groups apart, and what they are where a statement needs them not. */
export const KEY_TYPES = {
  channel: "text",
  billed: "boolean",
  client: "text",
  owner: "text",
  user_label: "text",
  key_id: "uuid",
  session: "text",
  tags: "text[]",
  model: "text",
  route: "text",
  person: "text",
} as const;
export type Key = keyof typeof KEY_TYPES;
const KEYS = Object.keys(KEY_TYPES) as Key[];

/**
 * A key of a row, whose columns have `prefix`. Of who made it the person alone, where nothing else of them is asked for; of
 * its channel no more than whether it is billed, likewise.
 */
export function keySql(key: Key, prefix: string): string {
  if (key === "person") return `coalesce(${prefix}user_label, ${prefix}owner)`;
  return key === "billed" ? billedSql(prefix) : `${prefix}${key}`;
}

const KEYS_OF: Partial<Record<DimensionName, readonly Key[]>> = {
  client: ["client"],
  model: ["model"],
  route: ["route"],
  subject: ["owner", "user_label"],
  key: ["key_id"],
  channel: ["channel"],
  tag: ["tags"],
  session: ["session"],
};

/** What the dimensions and filters asked for, those who are counted distinctly, and (`lane`) lanes need to be told apart. */
export function keysOf(
  { entities }: Pick<Context, "entities">,
  asked: readonly string[],
  lane: boolean,
): Key[] {
  const needed: readonly Key[] = asked.flatMap((name) => KEYS_OF[name as DimensionName] ?? []);
  const who = entities.map((entity): Key => (entity === "person" ? "person" : "session"));
  return KEYS.filter(
    (key) =>
      needed.includes(key) ||
      (key === "billed" && lane && !needed.includes("channel")) ||
      (who.includes(key) && !(key === "person" && needed.includes("owner"))),
  );
}

/** All rows are one group where nothing tells them apart, and none of no rows: the first column of cells is a constant. */
export const groupedBy = (groups: readonly string[]): string => groups.join(", ") || "1";
