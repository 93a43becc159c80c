import type { Json } from "../exact-json.ts";
import { flagAt, ignored, malformed, objectAt, readMembers, textAt } from "../members.ts";
import type { OutputFormat } from "../prompt.ts";

/** `response_format`; null for plain text. */
export function chatOutput(format: Json, at: string): OutputFormat | null {
  switch (format["type"]) {
    case "text":
      return null;
    case "json_object":
      return { kind: "json", at };
    case "json_schema":
      return schemaOutput(objectAt(format["json_schema"], `${at}.json_schema`), `${at}.json_schema`);
    default:
      throw malformed(`${at}.type`, "text, json_object or json_schema");
  }
}

/** An output schema as the chat and the responses format write it. */
export function schemaOutput(format: Json, at: string): OutputFormat {
  const output = {
    name: "output",
    description: null as string | null,
    schema: {} as Json,
    strict: null as boolean | null,
  };
  readMembers(format, at, {
    type: ignored,
    name: (value, place) => {
      output.name = textAt(value, place);
    },
    description: (value, place) => {
      output.description = textAt(value, place);
    },
    schema: (value, place) => {
      output.schema = objectAt(value, place);
    },
    strict: (value, place) => {
      output.strict = flagAt(value, place);
    },
  });
  return { kind: "schema", ...output, at };
}
