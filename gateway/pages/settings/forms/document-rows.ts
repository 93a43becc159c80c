import type { JsonDocument } from "#shared/admin/claude-settings.ts";

type Json = JsonDocument[string];

/** What a row's value is. The last four need none. */
export const ROW_KINDS = [
  "text",
  "list",
  "number",
  "yes",
  "no",
  "null",
  "empty group",
  "empty list",
] as const;
type RowKind = (typeof ROW_KINDS)[number];

/** One value within a document: where it is, such as `permissions.deny`, and what it is. Items of a list are `[0]`, `[1]`. */
export type DocumentRow = { name: string; kind: RowKind; value: string };

const isItem = (part: string): boolean => /^\[\d+\]$/.test(part);
const escaped = (key: string): string => {
  const dotted = key.replaceAll(/[\\.]/g, "\\$&");
  return isItem(key) ? `\\${dotted}` : dotted;
};

const isLine = (value: Json): value is string =>
  typeof value === "string" && value !== "" && value === value.trim() && !value.includes("\n");

/** A document as rows, in its order. */
export function rowsOf(value: Json, at: readonly string[] = []): DocumentRow[] {
  const row = (kind: RowKind, text = ""): DocumentRow[] => [{ name: at.join("."), kind, value: text }];
  if (value === null) return row("null");
  if (typeof value === "string") return row("text", value);
  if (typeof value === "number") return row("number", String(value));
  if (typeof value === "boolean") return row(value ? "yes" : "no");
  if (Array.isArray(value)) {
    if (value.length === 0) return row("empty list");
    if (value.every(isLine)) return row("list", value.join("\n"));
    return value.flatMap((item, i) => rowsOf(item, [...at, `[${i}]`]));
  }
  const members = Object.entries(value);
  if (members.length === 0) return at.length === 0 ? [] : row("empty group");
  return members.flatMap(([key, member]) => rowsOf(member, [...at, escaped(key)]));
}

const VALUES: Record<RowKind, (text: string) => Json | undefined> = {
  text: (text) => text,
  list: (text) =>
    text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== ""),
  number: (text) => (text.trim() === "" || !Number.isFinite(Number(text)) ? undefined : Number(text)),
  yes: () => true,
  no: () => false,
  null: () => null,
  "empty group": () => ({}),
  "empty list": () => [],
};

/** The parts of a name as they are written: a backslash makes a dot, or an item's bracket, part of a key. */
function partsOf(name: string): string[] {
  const parts = [""];
  for (const [one = ""] of name.matchAll(/\\.|./gs)) {
    if (one === ".") parts.push("");
    else parts.push(`${parts.pop()}${one}`);
  }
  return parts;
}

const keyOf = (part: string): string => part.replaceAll(/\\(.)/gs, "$1");

/** Members by their parts of names. */
class Branch extends Map<string, Branch | { value: Json }> {}

/** The document that rows describe; null: two of them contradict each other, or a number is invalid. */
export function documentOf(rows: readonly DocumentRow[]): JsonDocument | null {
  const root = new Branch();
  for (const { name, kind, value } of rows) {
    const entered = VALUES[kind](value);
    if (entered === undefined || !put(root, partsOf(name), entered)) return null;
  }
  const made = root.size === 0 ? {} : jsonOf(root);
  return typeof made === "object" && made !== null && !Array.isArray(made) ? made : null;
}

function put(root: Branch, parts: readonly string[], value: Json): boolean {
  let at = root;
  for (const part of parts.slice(0, -1)) {
    const next = at.get(part) ?? new Branch();
    if (!(next instanceof Branch)) return false;
    at.set(part, next);
    at = next;
  }
  const last = parts.at(-1) ?? "";
  if (at.has(last)) return false;
  at.set(last, { value });
  return true;
}

/** Undefined: it has items and members. */
function jsonOf(branch: Branch): Json | undefined {
  const entries = [...branch].map(
    ([part, one]) => [part, one instanceof Branch ? jsonOf(one) : one.value] as const,
  );
  const items = entries.filter(([part]) => isItem(part)).length;
  if (entries.some(([, one]) => one === undefined) || (items > 0 && items < entries.length)) return undefined;
  // None of them is undefined.
  const known = entries as [string, Json][];
  return items > 0
    ? known.map(([, one]) => one)
    : Object.fromEntries(known.map(([part, one]) => [keyOf(part), one]));
}
