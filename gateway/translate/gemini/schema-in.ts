import { camelName } from "../../google-format.ts";
import { isJson, type Json } from "../exact-json.ts";

/** Members of Google's schemas whose 64-bit counts may be texts. */
const COUNTS = new Set(["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"]);
/** Members that only Google's schemas have. */
const OWN = new Set(["propertyOrdering", "nullable", "example"]);
/** Deeper than any real schema. */
const DEPTH_MAX = 64;

/** A schema of Google's, an excerpt of OpenAPI's with types in upper case, as a JSON schema. */
export function jsonSchemaOf(schema: Json, depth = 0): Json {
  const result: Record<string, unknown> = {};
  if (depth > DEPTH_MAX) return result;
  for (const spelled in schema) {
    const name = camelName(spelled);
    if (!OWN.has(name)) result[RENAMED.get(name) ?? name] = memberOf(name, schema[spelled], depth + 1);
  }
  return schema["nullable"] === true ? nullable(result) : result;
}

/** Names of OpenAPI's excerpt that JSON schemas write otherwise. */
const RENAMED = new Map([
  ["defs", "$defs"],
  ["ref", "$ref"],
]);

const nullable = ({ type, enum: values, anyOf, ...rest }: Json): Json => ({
  ...rest,
  ...(typeof type === "string" && { type: [type, "null"] }),
  ...(Array.isArray(values) && { enum: [...values, null] }),
  ...(Array.isArray(anyOf) && { anyOf: [...anyOf, { type: "null" }] }),
});

/** Members that are texts there, and what they are in a JSON schema. */
const TEXTS = new Map<string, (text: string) => unknown>([
  ["type", (text) => text.toLowerCase()],
  ["ref", (text) => text.replace("#/defs/", "#/$defs/")],
  ...[...COUNTS].map((name) => [name, Number] as const),
]);

function memberOf(name: string, value: unknown, depth: number): unknown {
  if (typeof value === "string") return TEXTS.get(name)?.(value) ?? value;
  if (name === "items" || name === "additionalProperties") return schemaOr(value, depth);
  if (name === "anyOf") return Array.isArray(value) ? value.map((one) => schemaOr(one, depth)) : value;
  if ((name === "properties" || name === "defs") && isJson(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, schemaOr(one, depth)]));
  }
  return value;
}

const schemaOr = (value: unknown, depth: number): unknown =>
  isJson(value) ? jsonSchemaOf(value, depth) : value;
