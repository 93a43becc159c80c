import { cacheInto } from "../common-members.ts";
import { isJson, type Json, wordOf } from "../exact-json.ts";
import { dropped, ignored, into, neutral, readObject } from "../members.ts";
import { type BodyPlace, type LocatedBody, malformed } from "../place.ts";
import { type Tool, unnamedTool } from "../prompt.ts";
import { isClosed } from "../tool-schema.ts";
import { definedTool, type ToolTable, toolsBy } from "../tool-table.ts";
import { flagAt, located, objectAt, objectsAt, textAt } from "../values.ts";
import { searchTool } from "../web-search.ts";

const defined =
  (kind: "bash" | "text_editor" | "memory"): ((tool: LocatedBody) => Tool[]) =>
  ({ object, at }) => {
    const tool = { ...definedTool(kind, { name: "" }), cache: null };
    readObject(object, at, {
      type: ignored,
      cache_control: cacheInto(tool),
      max_characters: dropped,
      name: into(tool, "name", textAt),
    });
    return [tool];
  };

/** Anthropic's tools, by their types without the date. */
const TOOLS: ToolTable = {
  custom: (tool) => [toolOf(tool)],
  bash: defined("bash"),
  text_editor: defined("text_editor"),
  memory: defined("memory"),
  computer: "unfaithful",
  web_search: searchTool,
  web_fetch: "vendor",
  code_execution: "vendor",
  tool_search_tool_regex: "vendor",
  tool_search_tool_bm25: "vendor",
  mcp_toolset: "vendor",
};

export const messagesTools = (value: unknown, at: BodyPlace): Tool[] =>
  toolsBy(
    TOOLS,
    objectsAt(value, at).map((tool) => ({ ...tool, type: wordOf(tool.object["type"] ?? "custom") })),
  );

/** The names of the tools that searches of the client's own found; null if the vendor searches. */
export function foundTools({ tools, messages }: Json): ReadonlySet<string> | null {
  const isSearch = (tool: unknown) => isJson(tool) && /^tool_search_tool_/.test(wordOf(tool["type"]));
  if (Array.isArray(tools) && tools.some(isSearch)) return null;
  const blocksIn = (list: unknown): Json[] => (Array.isArray(list) ? list.filter(isJson) : []);
  const results = blocksIn(messages).flatMap(({ content }) => blocksIn(content));
  const references = results
    .flatMap(({ content }) => blocksIn(content))
    .filter(({ type }) => type === "tool_reference");
  return new Set(references.map(({ tool_name }) => wordOf(tool_name)));
}

function toolOf({ object: definition, at }: LocatedBody): Tool {
  const tool = unnamedTool();
  readObject(definition, at, {
    type: ignored,
    cache_control: cacheInto(tool),
    // When arguments are streamed, not what they are.
    eager_input_streaming: dropped,
    defer_loading: (value, place) => {
      tool.deferred = flagAt(value, place);
    },
    // The schema says the same.
    input_examples: dropped,
    allowed_callers: neutral(["direct"]),
    name: into(tool, "name", textAt),
    description: into(tool, "description", textAt),
    input_schema: into(tool, "schema", objectAt),
    strict: into(tool, "strict", located(flagAt)),
  });
  if (tool.name === "") throw malformed(at.member("name"), "a string");
  if (tool.strict?.value && !isClosed(tool.schema)) {
    tool.strict.at.drop();
    tool.strict = null;
  }
  return tool;
}
