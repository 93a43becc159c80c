import type { Json } from "../exact-json.ts";
import {
  flagAt,
  ignored,
  inexpressible,
  into,
  type LocatedBody,
  located,
  lose,
  malformed,
  objectAt,
  objectsAt,
  oneOfAt,
  readObject,
  textAt,
} from "../members.ts";
import type { BodyPlace } from "../place.ts";
import type { Prompt, Tool } from "../prompt.ts";
import { cacheReaders } from "./content-in.ts";

/** The tools of a chat request. */
export const chatTools = (value: unknown, at: BodyPlace): Tool[] =>
  clientsTools(objectsAt(value, at), isFunction).map(chatTool);

const isFunction = ({ object }: LocatedBody): boolean => object["type"] === "function";

/** The tools of a responses request, which writes a function flat. */
export const responsesTools = (value: unknown, at: BodyPlace): Tool[] =>
  clientsTools(objectsAt(value, at), isFunction).map(functionTool);

/**
 * The tools that the client runs itself. Those that its vendor runs are left out where others remain, because agents
 * offer them with every call; alone, they are what the call is about.
 */
export function clientsTools(
  tools: readonly LocatedBody[],
  isClients: (tool: LocatedBody) => boolean,
): LocatedBody[] {
  const kept = tools.filter(isClients);
  for (const tool of tools) {
    if (isClients(tool)) continue;
    if (kept.length > 0) tool.at.drop();
    else lose(tool.at.member("type"), "only tools that the client runs can be");
  }
  return kept;
}

function chatTool({ object, at }: LocatedBody): Tool {
  const definition = at.member("function");
  const tool = functionTool({ object: objectAt(object["function"], definition), at: definition });
  // Some clients mark the tool and not its function.
  readObject(object, at, { type: ignored, function: ignored, ...cacheReaders(tool) });
  return tool;
}

/** A function's definition, as the chat and the responses format write it. */
function functionTool({ object, at }: LocatedBody): Tool {
  const tool: Tool = { name: "", description: null, schema: null, strict: null, cache: null };
  readObject(object, at, {
    type: ignored,
    name: into(tool, "name", textAt),
    description: into(tool, "description", textAt),
    parameters: into(tool, "schema", objectAt),
    strict: into(tool, "strict", located(flagAt)),
    ...cacheReaders(tool),
  });
  if (tool.name === "") throw malformed(at.member("name"), "a string");
  return tool;
}

/** Reads `tool_choice` into a prompt whose tools are read already: a list of allowed tools removes the others. */
export function readToolChoice(value: unknown, at: BodyPlace, prompt: Prompt): void {
  if (value === undefined || value === null) return;
  if (typeof value === "string") {
    const kind = oneOfAt(value, at, ["auto", "none", "required"] as const);
    prompt.toolChoice = { value: { kind: kind === "required" ? "any" : kind }, at };
    return;
  }
  const choice = objectAt(value, at);
  if (choice["type"] === "function") {
    prompt.toolChoice = { value: { kind: "tool", name: functionName(choice, at) }, at };
  } else if (choice["type"] === "allowed_tools") {
    const allowed = at.member("allowed_tools");
    allowOnly({ object: objectAt(choice["allowed_tools"] ?? choice, allowed), at: allowed }, prompt);
  } else lose(at.member("type"));
}

function allowOnly({ object: allowed, at }: LocatedBody, prompt: Prompt): void {
  const mode = oneOfAt(allowed["mode"], at.member("mode"), ["auto", "required"] as const);
  const listed = clientsTools(objectsAt(allowed["tools"], at.member("tools")), isFunction);
  const names = new Set(listed.map(({ object, at: place }) => functionName(object, place)));
  prompt.tools = prompt.tools.filter(({ name }) => names.has(name));
  prompt.toolChoice = { value: { kind: mode === "required" ? "any" : "auto" }, at };
}

/** Nested in the chat format, at the top in the responses format. */
function functionName(choice: Json, at: BodyPlace): string {
  if (choice["type"] !== "function") throw inexpressible(at.member("type"));
  const nested = choice["function"];
  return textAt(nested === undefined ? choice["name"] : objectAt(nested, at)["name"], at.member("name"));
}
