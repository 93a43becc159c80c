import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { fits, oneOf } from "#shared/schema.ts";
import { ROW_KINDS } from "./document-rows.ts";
import type { SuggestedFrom } from "./suggested.ts";

/** What a form says about a member of a schema. A text is its label. */
export type Words = string | FieldWords;
type FieldWords = {
  label: string;
  /** Default: the schema's description, except beside a switch. */
  help?: string;
  placeholder?: string;
  /** What a new resource begins with. Default: the schema's default, or its first choice. */
  initial?: string | boolean;
  /** Of a choice that may be absent: how that reads. */
  none?: string;
  /** Label of the box that sends an empty list, or deletes a secret: to enter nothing means something else. */
  nothing?: string;
  isSecret?: true;
  /** Of a text or of lines: where values to choose come from. Others can be typed. */
  suggest?: SuggestedFrom;
  /** Of a list: what one entry is called. */
  item?: string;
  /** Of a group for which null and empty differ: label of the switch without which it is null. */
  toggle?: string;
  members?: Readonly<Record<string, Words>>;
};

type Kind =
  | "text"
  | "area"
  | "secret"
  | "integer"
  | "decimal"
  | "switch"
  | "choice"
  /** Some of a few names. */
  | "choices"
  /** Texts of one line, each on a line of its own. */
  | "lines"
  /** Entries that are fields themselves. */
  | "list"
  /** Values by names that are free to choose. */
  | "pairs"
  | "group"
  /** A document of any form, value by value. */
  | "json";

/** A member of a resource: where it is in the body, what it is called, and how it is entered. */
export type Field = Omit<FieldWords, "members"> & {
  name: string;
  kind: Kind;
  /** Without null. */
  schema: TSchema;
  isNullable: boolean;
  /** Something must be entered. */
  isRequired: boolean;
  /** Of a group. */
  members: readonly Field[];
  /** Of a list or of pairs. */
  entry: Field | null;
};

/** How a resource is entered, and the bodies that its addresses take. */
export type Form = {
  fields: readonly Field[];
  create: TObject;
  /** Null: it cannot be changed. */
  change: TObject | null;
  /** A change sends the whole resource (PUT) and not only what is new (PATCH). */
  replaces?: true;
};

/** The form of a resource: what the schemas say, in the order and words of the table. */
export const formOf = <S extends TObject>(
  create: S,
  change: TObject | null,
  words: { readonly [M in keyof S["properties"]]?: Words },
): Form => ({ fields: fieldsOf(create, words), create, change });

const fieldsOf = (schema: TSchema, words: Readonly<Record<string, Words | undefined>>): Field[] =>
  Object.entries(words).map(([name, said = name]) => {
    const field = fieldOf(name, schema["properties"][name], said);
    return { ...field, isRequired: field.isRequired && (schema["required"] ?? []).includes(name) };
  });

function fieldOf(name: string, given: TSchema, said: Words): Field {
  const { members = {}, ...words } = typeof said === "string" ? { label: said } : said;
  const forms: TSchema[] = given["anyOf"] ?? [given];
  const isNullable = forms.some(({ type }) => type === "null");
  const schema = forms.find(({ type }) => type !== "null") ?? given;
  const plain = kindOf(schema);
  const kind = (words.isSecret && AS_SECRET[plain]) || (isNullable && AS_NULLABLE[plain]) || plain;
  const help = helpOf(kind, schema.description ?? given.description ?? "", words.suggest !== undefined);
  const field = { help, ...words, name, kind, schema, isNullable };
  return {
    ...field,
    isRequired: isNeeded(field),
    members: kind === "group" ? fieldsOf(schema, members) : [],
    entry: ENTERED_ONE_BY_ONE.includes(kind) ? entryOf({ ...field, members }) : null,
  };
}

const ENTERED_ONE_BY_ONE: readonly Kind[] = ["list", "pairs", "json"];

/** The schema's description, in the words of a form. The label of a switch says it all. */
function helpOf(kind: Kind, description: string, isChosen: boolean): string {
  if (kind === "switch") return "";
  const help = description.replace(/\b(Null|Absent|Default):/, "Empty:").replace("`base_url`", "address");
  return kind === "lines" && !isChosen ? `${help} One a line.`.trim() : help;
}

const isNeeded = ({ kind, schema, isNullable }: Pick<Field, "kind" | "schema" | "isNullable">): boolean =>
  ["text", "area", "integer", "decimal"].includes(kind) && !isNullable && !fits(schema, "");

/** A secret is entered unseen; a nullable switch has three positions. */
const AS_SECRET: Partial<Record<Kind, Kind>> = { text: "secret", lines: "list" };
const AS_NULLABLE: Partial<Record<Kind, Kind>> = { switch: "choice" };

function kindOf(schema: TSchema): Kind {
  switch (schema["type"]) {
    case "boolean":
      return "switch";
    case "integer":
      return "integer";
    case "object":
      return schema["properties"] ? "group" : schema["patternProperties"] ? "pairs" : "json";
    case "array":
      return schema["items"].enum ? "choices" : isLine(schema["items"]) ? "lines" : "list";
    case "string":
      return textKindOf(schema);
    // Money is a text or a number.
    default:
      return "decimal";
  }
}

const textKindOf = (schema: TSchema): Kind => (schema["enum"] ? "choice" : isLine(schema) ? "text" : "area");

const isLine = ({ type, format, pattern = "" }: TSchema): boolean =>
  type === "string" && (format !== undefined || !new RegExp(pattern).test("a\nb"));

type Entries = Pick<Field, "name" | "kind" | "schema"> & FieldWords;

/** A value within a document that is free to choose. */
const DOCUMENT_ROW = Type.Object({
  name: Type.String({ pattern: "^.+$" }),
  kind: oneOf(ROW_KINDS),
  value: Type.String(),
});
const DOCUMENT_WORDS = {
  name: { label: "Setting", help: "", suggest: "claude_setting" },
  kind: { label: "Is", help: "" },
  value: { label: "Value", help: "" },
} as const;

/** An entry of a list, or a name with its value. */
function entryOf({ name, kind, schema, label, item = label, isSecret, members = {} }: Entries): Field {
  const said = { label: item, help: "", ...(isSecret && { isSecret }) };
  if (kind === "json") return fieldOf(name, DOCUMENT_ROW, { ...said, members: DOCUMENT_WORDS });
  if (kind === "list") return fieldOf(name, schema["items"], { ...said, members });
  const [value = Type.Never()] = Object.values<TSchema>(schema["patternProperties"]);
  const pair = Type.Object({ name: Type.String({ pattern: "^.+$" }), value });
  return fieldOf(name, pair, { ...said, members: { name: "Name", value: "Value", ...members } });
}

/** The field of a member, or of the part of it that has one. */
export function fieldAt(fields: readonly Field[], [name, ...rest]: readonly string[]): Field | undefined {
  const field = fields.find((it) => it.name === name);
  if (!field || rest.length === 0) return field;
  const [, ...inner] = rest;
  return (field.entry ? fieldAt(field.entry.members, inner) : fieldAt(field.members, rest)) ?? field;
}

/** The fields to show. A stored resource keeps some of them for good, and lacks none that it needs. */
export const fieldsFor = ({ fields, change }: Form, isNew: boolean): Field[] =>
  isNew
    ? fields.map((field) => (field.kind === "secret" ? { ...field, nothing: "" } : field))
    : fields
        .filter(({ name }) => change && Object.hasOwn(change.properties, name))
        .map((field) => ({ ...field, isRequired: isNeeded(field) }));
