import { isRecord } from "#shared/json.ts";
import { tableText } from "./table.ts";

const UNSHOWN = ["created_at", "updated_at", "has_more", "next"];

/** An answer of the admin API for people: its lists and objects as tables, under their names, after its other members. */
export function answerText(answer: unknown): string {
  const members = Object.entries(isRecord(answer) ? answer : {}).filter(([name]) => !UNSHOWN.includes(name));
  const isTable = (value: unknown) => isRecord(value) || (Array.isArray(value) && value.some(isRecord));
  const facts = members.filter(
    ([name, value]) => !isTable(value) && !(name === "data" && cellText(value) === ""),
  );
  const tables = members.filter(([, value]) => isTable(value));
  const titled = tables.map(([name, value]) => {
    const rows = (Array.isArray(value) ? value : [value]).filter(isRecord);
    return `${name === "data" ? "" : `${titleOf(name)}\n`}${rowsText(rows)}`;
  });
  const lines = facts.map(([name, value]) => `${titleOf(name)}: ${cellText(value) || "none"}`).join("\n");
  const empty = members.length === 0 || members.length > facts.length + tables.length;
  return [lines, ...titled, empty && "None."].filter(Boolean).join("\n\n");
}

/** Columns that all rows leave empty are left out. */
function rowsText(rows: readonly Record<string, unknown>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter(
    (name) => !UNSHOWN.includes(name) && rows.some((row) => cellText(row[name]) !== ""),
  );
  const cells = rows.map((row) => names.map((name) => cellText(row[name])));
  const isNumber = (at: number) => cells.every((row) => /^-?[\d.]*$/.test(row[at] ?? ""));
  return tableText(names.map(titleOf), cells, isNumber);
}

const titleOf = (name: string): string => name.replaceAll("_", " ");

function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value) && !value.some(isRecord)) return value.join(", ");
  if (isRecord(value) && Object.values(value).every((it) => typeof it !== "object"))
    return Object.entries(value)
      .map(([name, it]) => `${titleOf(name)} ${String(it)}`)
      .join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
