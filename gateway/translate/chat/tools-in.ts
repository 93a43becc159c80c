import { isJson, type Json, wordOf } from "../exact-json.ts";
import { dropped, ignored, into, type MemberReaders, readObject } from "../members.ts";
import { type BodyPlace, type LocatedBody, lose, malformed } from "../place.ts";
import { type Prompt, type Tool, unnamedTool } from "../prompt.ts";
import { definedTool, type ToolTable, toolsBy } from "../tool-table.ts";
import { flagAt, located, objectAt, objectsAt, oneOfAt, textAt } from "../values.ts";
import { choosable } from "../web-search.ts";
import { cacheReaders } from "./content-in.ts";

/** OpenAI's tools, by their types in the chat format. */
const TOOLS: ToolTable = {
  function: ({ object, at }) => [nested(object, at)],
  custom: ({ object, at }) => {
    const definition = at.member("custom");
    readObject(object, at, { type: ignored, custom: ignored });
    return [customTool({ object: objectAt(object["custom"], definition), at: definition })];
  },
};

export const chatTools = (value: unknown, at: BodyPlace): Tool[] =>
  toolsBy(
    TOOLS,
    objectsAt(value, at).map((tool) => ({ ...tool, type: wordOf(tool.object["type"]) })),
  );

function nested(object: Json, at: BodyPlace): Tool {
  const definition = at.member("function");
  const tool = chatFunction({ object: objectAt(object["function"], definition), at: definition });
  // Some clients mark the tool and not its function.
  readObject(object, at, { type: ignored, function: ignored, ...cacheReaders(tool) });
  return tool;
}

const namedReaders = (tool: Tool): MemberReaders => ({
  type: ignored,
  name: into(tool, "name", textAt),
  description: into(tool, "description", textAt),
  defer_loading: (value, place) => {
    tool.deferred = flagAt(value, place);
  },
});

/** A function's definition, as the chat and the responses format write it. */
export function chatFunction({ object, at }: LocatedBody): Tool {
  const tool = unnamedTool();
  readObject(object, at, {
    ...namedReaders(tool),
    parameters: into(tool, "schema", objectAt),
    strict: into(tool, "strict", located(flagAt)),
    // What the function returns.
    output_schema: dropped,
    ...cacheReaders(tool),
  });
  if (tool.name === "") throw malformed(at.member("name"), "a string");
  return tool;
}

/** A tool whose input is a text, perhaps of a grammar, as a function with that text as its only argument. */
export function customTool({ object, at }: LocatedBody): Tool {
  const tool = { ...definedTool("custom", { name: "", form: { as: "custom" } }), grammar: "" };
  const format = into(tool, "grammar", (value, place) => grammarIn(objectAt(value, place)));
  readObject(object, at, { ...namedReaders(tool), format });
  if (tool.name === "") throw malformed(at.member("name"), "a string");
  const { grammar, ...custom } = tool;
  const description = [custom.description, grammar].filter(Boolean).join("\n\n");
  return { ...custom, description: description || null };
}

/** Nested in the chat format. */
function grammarIn(format: Json): string {
  const grammar = isJson(format["grammar"]) ? format["grammar"] : format;
  const { syntax, definition } = grammar;
  return typeof definition === "string" ? `\`input\` must fit this ${syntax} grammar:\n${definition}` : "";
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
  const { type } = choice;
  const isOffered = ({ form, search, name }: Tool) =>
    form?.as === type || (search && name === choosable(`${type}`));
  if (typeof type === "string" && (NAMED.has(type) || prompt.tools.some(isOffered))) {
    const name = NAMED.has(type) ? toolName(choice, at) : choosable(type);
    prompt.toolChoice = { value: { kind: "tool", name }, at };
  } else if (choice["type"] === "allowed_tools") {
    const allowed = at.member("allowed_tools");
    allowOnly({ object: objectAt(choice["allowed_tools"] ?? choice, allowed), at: allowed }, prompt);
  } else lose(at.member("type"));
}

function allowOnly({ object: allowed, at }: LocatedBody, prompt: Prompt): void {
  const mode = oneOfAt(allowed["mode"], at.member("mode"), ["auto", "required"] as const);
  const listed = objectsAt(allowed["tools"], at.member("tools"));
  const names = new Set(
    listed.map(({ object, at: place }) =>
      NAMED.has(wordOf(object["type"])) ? toolName(object, place) : choosable(wordOf(object["type"])),
    ),
  );
  prompt.tools = prompt.tools.filter(({ name }) => names.has(name));
  prompt.toolChoice = { value: { kind: mode === "required" ? "any" : "auto" }, at };
}

const NAMED: ReadonlySet<string> = new Set(["function", "custom"]);

/** Nested in the chat format, at the top in the responses format. */
function toolName(choice: Json, at: BodyPlace): string {
  const held = choice[wordOf(choice["type"])];
  return textAt(held === undefined ? choice["name"] : objectAt(held, at)["name"], at.member("name"));
}
