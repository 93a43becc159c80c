import type { DimensionName } from "#shared/report.ts";
import type { Context } from "./context.ts";

/** The columns of cells and of records that tell groups apart, and what they are where a statement needs them not. */
export const KEY_TYPES = {
  channel: "text",
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

/** A key of a row, whose columns have `prefix`; of who made it the person alone, where nothing else of them is asked for. */
export const keySql = (key: Key, prefix: string): string =>
  key === "person" ? `coalesce(${prefix}user_label, ${prefix}owner)` : `${prefix}${key}`;

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
  lane = true,
): Key[] {
  const needed: readonly Key[] = [...asked, ...(lane ? ["channel"] : [])].flatMap(
    (name) => KEYS_OF[name as DimensionName] ?? [],
  );
  const who = entities.map((entity): Key => (entity === "person" ? "person" : "session"));
  return KEYS.filter(
    (key) => needed.includes(key) || (who.includes(key) && !(key === "person" && needed.includes("owner"))),
  );
}

/** All rows are one group where nothing tells them apart, and none of no rows: the first column of cells is a constant. */
export const groupedBy = (groups: readonly string[]): string => groups.join(", ") || "1";
