import { isJson, type Json } from "../exact-json.ts";

/** Deeper than any real schema. */
const DEPTH_MAX = 64;
/** `defined`: in a definition, where a reference may lead back to itself. */
type Walk = { depth: number; defined: boolean };

/**
 * A schema as Anthropic makes a grammar of it, for answers and for the arguments of strict tools: objects that say nothing
 * of further members are closed, which the vendor demands and OpenAI does not. Null if it has what no grammar can keep:
 * bounds, maps, references within definitions, or a part that may be anything. Source: the vendor's "JSON Schema limitations".
 */
export const grammarOf = (schema: Json): Json | null => partOf(schema, { depth: 0, defined: false });

function partOf(schema: unknown, walk: Walk): Json | null {
  if (!isJson(schema) || walk.depth > DEPTH_MAX) return null;
  if (!["type", "enum", "const", "anyOf", "$ref"].some((name) => Object.hasOwn(schema, name))) return null;
  const part: Record<string, unknown> = schema["type"] === "object" ? { additionalProperties: false } : {};
  for (const [name, value] of Object.entries(schema)) {
    const keep = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
    const kept = keep?.(value, { ...walk, depth: walk.depth + 1 });
    if (kept === undefined || kept === null) return null;
    part[name] = kept.value;
  }
  return part;
}

/** A keyword's value as the grammar takes it; null if it takes none. */
type Keep = (value: unknown, walk: Walk) => { value: unknown } | null;

const asItIs: Keep = (value) => ({ value });
const only =
  (fits: (value: unknown) => boolean): Keep =>
  (value) =>
    fits(value) ? { value } : null;
const isPlain = (value: unknown): boolean => typeof value !== "object" || value === null;

const listOfParts: Keep = (value, walk) => {
  if (!Array.isArray(value)) return null;
  const parts = value.map((one) => partOf(one, walk));
  return parts.includes(null) ? null : { value: parts };
};

const mapOfParts: Keep = (value, walk) => {
  if (!isJson(value)) return null;
  const parts = Object.entries(value).map(([name, one]) => [name, partOf(one, walk)] as const);
  return parts.some(([, part]) => part === null) ? null : { value: Object.fromEntries(parts) };
};

const definitions: Keep = (value, walk) => mapOfParts(value, { ...walk, defined: true });

const FORMATS = /^(?:date-time|time|date|duration|email|hostname|uri|ipv4|ipv6|uuid)$/;

const KEYWORDS: Readonly<Record<string, Keep>> = {
  $schema: asItIs,
  title: asItIs,
  description: asItIs,
  default: asItIs,
  type: asItIs,
  required: asItIs,
  enum: only((value) => Array.isArray(value) && value.every(isPlain)),
  const: only(isPlain),
  additionalProperties: only((value) => value === false),
  minItems: only((value) => value === 0 || value === 1),
  format: only((value) => typeof value === "string" && FORMATS.test(value)),
  pattern: asItIs,
  items: (value, walk) => {
    const part = partOf(value, walk);
    return part && { value: part };
  },
  anyOf: listOfParts,
  properties: mapOfParts,
  $defs: definitions,
  definitions,
  $ref: (value, { defined }) =>
    !defined && typeof value === "string" && /^#\/(?:\$defs|definitions)\//.test(value) ? { value } : null,
};
