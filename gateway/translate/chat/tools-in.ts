import type { Json } from "../exact-json.ts";
import {
  flagAt,
  ignored,
  inexpressible,
  into,
  malformed,
  objectAt,
  objectsAt,
  oneOfAt,
  readMembers,
  textAt,
} from "../members.ts";
import type { Prompt, Tool } from "../prompt.ts";

/** The tools of a chat request. */
export const chatTools = (value: unknown, at: string): Tool[] =>
  objectsAt(value, at).map(({ object, at: place }) => {
    if (object["type"] !== "function") throw inexpressible(`${place}.type`, "only function tools can be");
    return functionTool(objectAt(object["function"], `${place}.function`), `${place}.function`);
  });

/** A function's definition, as the chat and the responses format write it. */
export function functionTool(definition: Json, at: string): Tool {
  const tool: Tool = { name: "", description: null, schema: null, strict: null, cache: null };
  readMembers(definition, at, {
    type: ignored,
    name: into(tool, "name", textAt),
    description: into(tool, "description", textAt),
    parameters: into(tool, "schema", objectAt),
    strict: into(tool, "strict", flagAt),
    cache_control: into(tool, "cache", objectAt),
  });
  if (tool.name === "") throw malformed(`${at}.name`, "a string");
  return tool;
}

/** Reads `tool_choice` into a prompt whose tools are read already: a list of allowed tools removes the others. */
export function readToolChoice(value: unknown, prompt: Prompt): void {
  if (value === undefined || value === null) return;
  const at = "tool_choice";
  if (typeof value === "string") {
    const kind = oneOfAt(value, at, ["auto", "none", "required"] as const);
    prompt.toolChoice = { value: { kind: kind === "required" ? "any" : kind }, at };
    return;
  }
  const choice = objectAt(value, at);
  if (choice["type"] === "function") {
    prompt.toolChoice = { value: { kind: "tool", name: functionName(choice, at) }, at };
  } else if (choice["type"] === "allowed_tools") {
    allowOnly(
      objectAt(choice["allowed_tools"] ?? choice, `${at}.allowed_tools`),
      `${at}.allowed_tools`,
      prompt,
    );
  } else throw inexpressible(`${at}.type`);
}

function allowOnly(allowed: Json, at: string, prompt: Prompt): void {
  const mode = oneOfAt(allowed["mode"], `${at}.mode`, ["auto", "required"] as const);
  const names = new Set(
    objectsAt(allowed["tools"], `${at}.tools`).map(({ object, at: place }) => functionName(object, place)),
  );
  prompt.tools = prompt.tools.filter(({ name }) => names.has(name));
  prompt.toolChoice = { value: { kind: mode === "required" ? "any" : "auto" }, at };
}

/** Nested in the chat format, at the top in the responses format. */
function functionName(choice: Json, at: string): string {
  if (choice["type"] !== "function") throw inexpressible(`${at}.type`);
  const nested = choice["function"];
  return textAt(nested === undefined ? choice["name"] : objectAt(nested, at)["name"], `${at}.name`);
}
