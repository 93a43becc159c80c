import type { Json } from "../exact-json.ts";
import { ignored, into, readObject } from "../members.ts";
import { type BodyPlace, malformed } from "../place.ts";
import type { OutputFormat } from "../prompt.ts";
import { schemaOutput } from "../prompt.ts";
import { flagAt, objectAt, textAt } from "../values.ts";

/** The requested output format; null for plain text. The schema is in `schemaMember`; null if the format is flat. */
export function outputFormatAt(
  format: Json,
  at: BodyPlace,
  schemaMember: string | null = null,
): OutputFormat | null {
  const place = schemaMember === null ? at : at.member(schemaMember);
  switch (format["type"]) {
    case "text":
      return null;
    case "json_object":
      return { kind: "json", at };
    case "json_schema":
      return namedSchema(schemaMember === null ? format : objectAt(format[schemaMember], place), place);
    default:
      throw malformed(at.member("type"), "text, json_object or json_schema");
  }
}

function namedSchema(object: Json, at: BodyPlace): OutputFormat {
  const output: Extract<OutputFormat, { kind: "schema" }> = schemaOutput({}, at);
  readObject(object, at, {
    type: ignored,
    name: into(output, "name", textAt),
    description: into(output, "description", textAt),
    schema: into(output, "schema", objectAt),
    strict: into(output, "strict", flagAt),
  });
  return output;
}
