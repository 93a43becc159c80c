import { isJson, type Json } from "./exact-json.ts";
import type { OutputFormat, Tool } from "./prompt.ts";

/** A tool's schema with properties and typed lists, which OpenAI and Google require and Anthropic's clients may omit. */
const toolSchema = (schema: Json | null): Json => ({
  type: "object",
  properties: {},
  ...(schema && isJson(schema) ? (withItemSchemas(schema) as Json) : {}),
});

/** Lists that say nothing of their items may have any. */
export function withItemSchemas(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withItemSchemas);
  if (!isJson(schema)) return schema;
  const parts = Object.fromEntries(
    Object.entries(schema).map(([name, part]) => [name, withItemSchemas(part)]),
  );
  const isList = schema["type"] === "array" && !("items" in schema) && !("prefixItems" in schema);
  return isList ? { ...parts, items: {} } : parts;
}

/** Whether OpenAI keeps answers to a schema: it demands every member, and takes no other one; Anthropic lets members be absent. */
export function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (!isJson(schema)) return true;
  const { properties, required, additionalProperties: others } = schema;
  const names = isJson(properties) ? Object.keys(properties) : [];
  const isWhole = schema["type"] !== "object" || others === false;
  const isRequired = Array.isArray(required)
    ? names.every((name) => required.includes(name))
    : names.length === 0;
  return isWhole && isRequired && Object.values(schema).every(isClosed);
}

/** A function as both of OpenAI's formats declare it. */
export const functionMembers = ({ name, description, schema, strict }: Tool) => ({
  name,
  description: description ?? undefined,
  parameters: toolSchema(schema),
  strict: strict?.value,
});

/** A schema of answers as both of OpenAI's formats have it. */
export const schemaMembers = (output: Extract<OutputFormat, { kind: "schema" }>) => ({
  name: output.name,
  description: output.description ?? undefined,
  schema: output.schema,
  strict: output.strict ?? undefined,
});
