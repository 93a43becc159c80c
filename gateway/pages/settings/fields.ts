/** How a member of a resource is entered. */
type FieldKind =
  | { kind: "text" | "area" | "secret" | "integer" | "decimal" | "moment"; placeholder?: string }
  | { kind: "switch" }
  | { kind: "choice"; options: readonly string[]; none?: string }
  /** One entry a line. */
  | { kind: "lines"; placeholder?: string }
  /** `name = value`, one a line. */
  | { kind: "pairs"; placeholder?: string }
  /** `provider model [weight]`, one a line. */
  | { kind: "targets" }
  /** A JSON object. */
  | { kind: "json"; placeholder?: string };

/** A member of a resource: where it is in the body, what it is called, and how it is entered. */
export type Field = FieldKind & {
  /** Its place in the body, such as `limits.budget_usd`. */
  name: string;
  label: string;
  help?: string;
  required?: boolean;
  /** Cannot be changed later. */
  createOnly?: boolean;
  /** What a new resource begins with. */
  initial?: FormValue;
  /** Sent as null if it is empty; else an empty one is left out. */
  nullable?: boolean;
};

export type FormValue = string | boolean;
export type FormValues = Record<string, FormValue>;
type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const memberAt = (view: Json, name: string): unknown =>
  name.split(".").reduce<unknown>((it, part) => (isObject(it) ? it[part] : undefined), view);

const empty = ({ kind, initial }: Field): FormValue => initial ?? (kind === "switch" ? false : "");

/** What a form begins with: the resource's members, or those of a new one. */
export function formOf(fields: readonly Field[], view: Json | null): FormValues {
  return Object.fromEntries(
    fields.map((field) => {
      const value = view ? memberAt(view, field.name) : undefined;
      return [
        field.name,
        value === undefined || value === null ? (view ? blank(field) : empty(field)) : written(field, value),
      ];
    }),
  );
}

const blank = ({ kind }: Field): FormValue => (kind === "switch" ? false : "");

function written({ kind }: Field, value: unknown): FormValue {
  if (kind === "switch") return value === true;
  if (kind === "lines") return Array.isArray(value) ? value.join("\n") : "";
  if (kind === "pairs") {
    return isObject(value)
      ? Object.entries(value)
          .map(([name, one]) => `${name} = ${one}`)
          .join("\n")
      : "";
  }
  if (kind === "targets") {
    return Array.isArray(value)
      ? value
          .map(({ provider, model, weight }) =>
            [provider, model, weight].filter((it) => it !== undefined).join(" "),
          )
          .join("\n")
      : "";
  }
  return kind === "json" ? JSON.stringify(value, null, 2) : String(value);
}

/** The body that a form describes. */
export function bodyOf(
  fields: readonly Field[],
  values: FormValues,
  isNew: boolean,
): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    if (field.createOnly && !isNew) continue;
    const value = read(field, values[field.name] ?? "");
    const [group = "", member] = field.name.split(".");
    if (member !== undefined) body[group] = withMember(body[group], member, value);
    else if (value !== undefined) body[group] = value;
    else if (field.nullable && !isNew) body[group] = null;
  }
  return body;
}

/** A group with a member; an empty one is left out, for an empty list of a scope would allow nothing. */
function withMember(group: unknown, member: string, value: unknown): Json {
  const members = isObject(group) ? group : {};
  const isEmpty = value === undefined || value === false || (Array.isArray(value) && value.length === 0);
  return isEmpty ? members : { ...members, [member]: value };
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Undefined: nothing was entered. What cannot be read goes to the gateway as it is, which says what is wrong with it. */
function read({ kind }: Field, value: FormValue): unknown {
  if (typeof value === "boolean") return value;
  if (kind === "lines") return linesOf(value);
  if (kind === "pairs") return Object.fromEntries(linesOf(value).map(pairOf));
  if (kind === "targets") return linesOf(value).map(targetOf);
  const text = kind === "secret" || kind === "area" ? value : value.trim();
  if (text === "") return undefined;
  if (kind === "integer") return /^-?\d+$/.test(text) ? Number(text) : text;
  return kind === "json" ? parsed(text) : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const pairOf = (line: string): [string, string] => {
  const at = line.lastIndexOf("=");
  return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
};

function targetOf(line: string): Record<string, unknown> {
  const [provider = "", model = "", weight] = line.split(/\s+/);
  return { provider, model, ...(weight !== undefined && { weight: Number(weight) }) };
}
