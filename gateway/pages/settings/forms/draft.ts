import type { JsonDocument } from "#shared/admin/claude-settings.ts";
import { type DocumentRow, documentOf, rowsOf } from "./document-rows.ts";
import type { Field } from "./field.ts";

/** What a control shows. Null: nothing, and on purpose. */
export type Draft = string | boolean | null | readonly Draft[] | Drafts;
export type Drafts = { readonly [member: string]: Draft };
type Json = Readonly<Record<string, unknown>>;

const isGroup = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const listIn = (draft: Draft): readonly Draft[] => (Array.isArray(draft) ? draft : []);

// A draft that is neither a list nor plain has members.
export const groupIn = (draft: Draft): Drafts => (isGroup(draft) ? (draft as Drafts) : {});

/** The drafts of a resource; null: of a new one. */
export const draftsOf = (fields: readonly Field[], view: Json | null): Drafts =>
  Object.fromEntries(
    fields.map((field) => [field.name, view ? draftOf(field, view[field.name]) : newDraft(field)]),
  );

/** What a field shows of a value; null and undefined are none. */
export function draftOf(field: Field, value: unknown): Draft {
  switch (field.kind) {
    case "switch":
      return value === true;
    case "group":
      return isGroup(value)
        ? draftsOf(field.members, value)
        : field.toggle
          ? null
          : draftsOf(field.members, {});
    case "pairs":
      return Object.entries(isGroup(value) ? value : {}).map(([name, one]) => ({ name, value: String(one) }));
    case "list":
    case "choices":
    case "lines":
      return entriesDraft(field, Array.isArray(value) ? value : null);
    case "json":
      // A group of a body is a document.
      return isGroup(value) ? rowsOf(value as JsonDocument) : [];
    default:
      return String(value ?? "");
  }
}

function entriesDraft({ kind, entry, nothing }: Field, values: readonly unknown[] | null): Draft {
  if (kind === "lines") return nothing && values?.length === 0 ? null : (values ?? []).join("\n");
  return (values ?? []).map((value) => (entry ? draftOf(entry, value) : String(value)));
}

/** What a field shows before anything is entered. */
export function newDraft(field: Field): Draft {
  const { kind, schema, members, initial = schema.default } = field;
  if (kind === "group") return field.toggle ? null : draftsOf(members, null);
  if (kind === "choice" && initial === undefined && !isOptionalChoice(field)) return schema["enum"][0];
  return draftOf(field, initial);
}

/** Whether a choice has an entry for none. */
export const isOptionalChoice = ({ isNullable, none }: Field): boolean => isNullable || none !== undefined;

/**
 * The body that the drafts describe. `before` are the drafts of the stored resource: what is as it was is left out, and
 * what was emptied is sent as the schema says it. Without them, what is empty is left out.
 */
export function bodyOf(
  fields: readonly Field[],
  drafts: Drafts,
  before: Drafts | null,
): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    const draft = drafts[field.name] ?? null;
    if (before && JSON.stringify(draft) === JSON.stringify(before[field.name])) continue;
    const value = valueIn(field, draft) ?? (before ? emptied(field) : undefined);
    if (value !== undefined) body[field.name] = value;
  }
  return body;
}

function emptied({ kind, isNullable }: Field): unknown {
  if (isNullable) return null;
  if (kind === "lines" || kind === "list" || kind === "choices") return [];
  if (kind === "pairs" || kind === "group") return {};
  return kind === "area" ? "" : undefined;
}

/** Undefined: nothing was entered. What cannot be read stays a text, and the schema says what is wrong with it. */
function valueIn(field: Field, draft: Draft): unknown {
  const { kind, entry } = field;
  if (draft === null) return kind === "lines" ? [] : kind === "secret" ? null : undefined;
  if (typeof draft === "boolean") return draft;
  if (typeof draft === "string") return textValue(field, draft);
  if (kind === "group") return groupValue(field, groupIn(draft));
  if (kind === "json") return documentValue(listIn(draft));
  const entries = listIn(draft).map((one) => (entry ? valueIn(entry, one) : one));
  if (kind === "pairs") return entries.length === 0 ? undefined : pairsValue(entries);
  const entered = entries.filter((one) => one !== undefined);
  return entered.length === 0 ? undefined : entered;
}

function groupValue({ members, toggle }: Field, drafts: Drafts): Json | undefined {
  const entered = members
    .map((member) => [member.name, valueIn(member, drafts[member.name] ?? null)] as const)
    .filter(([, value]) => value !== undefined && value !== false);
  return entered.length === 0 && !toggle ? undefined : Object.fromEntries(entered);
}

const pairsValue = (entries: readonly unknown[]): Json =>
  Object.fromEntries(
    entries.filter(isGroup).map(({ name, value = "" }) => [typeof name === "string" ? name : "", value]),
  );

function textValue({ kind, schema }: Field, text: string): unknown {
  if (kind === "lines") {
    const lines = text.split("\n").map((line) => line.trim());
    const entered = lines.filter((line) => line !== "");
    return entered.length === 0 ? undefined : entered;
  }
  const entered = kind === "area" || kind === "secret" ? text : text.trim();
  if (entered === "") return undefined;
  if (kind === "integer") return /^-?\d{1,15}$/.test(entered) ? Number(entered) : entered;
  return schema["type"] === "boolean" ? entered === "true" : entered;
}

/** What contradicts itself is a text, which the schema refuses. */
function documentValue(drafts: readonly Draft[]): unknown {
  // The fields of a row are texts and one of its kinds.
  const rows = drafts.map((draft) => groupIn(draft) as DocumentRow);
  return rows.length === 0 ? undefined : (documentOf(rows) ?? "");
}
