import { chatFunction, customTool } from "../chat/tools-in.ts";
import { isJson } from "../exact-json.ts";
import { ignored, readObject } from "../members.ts";
import { type BodyPlace, type LocatedBody, malformed } from "../place.ts";
import type { Prompt, Tool, ToolForm } from "../prompt.ts";
import { definedTool, offerFound, type ToolTable, toolsBy } from "../tool-table.ts";
import { listAt, objectsAt, textAt } from "../values.ts";
import { searchTool } from "../web-search.ts";

/** OpenAI's tools, by their types in the responses format. */
const TOOLS: ToolTable = {
  function: (tool) => [chatFunction(tool)],
  custom: (tool) => [customTool(tool)],
  local_shell: () => [definedTool("local_shell", { name: "local_shell", form: { as: "local_shell" } })],
  shell: ({ object }) => {
    const { environment } = object;
    // Else a container of the vendor's.
    if (!isJson(environment) || environment["type"] !== "local") return "vendor";
    return [definedTool("shell", { name: "shell", form: { as: "shell" } })];
  },
  apply_patch: () => [definedTool("apply_patch", { name: "apply_patch", form: { as: "apply_patch" } })],
  namespace: namespaced,
  tool_search: searching,
  web_search: searchTool,
  web_search_preview: searchTool,
  file_search: "vendor",
  code_interpreter: "vendor",
  image_generation: "vendor",
  mcp: "vendor",
  computer_use_preview: "unfaithful",
  computer: "unfaithful",
};

export const responsesTools = (value: unknown, at: BodyPlace): Tool[] =>
  toolsBy(
    TOOLS,
    objectsAt(value, at).map((tool) => ({
      ...tool,
      type: textAt(tool.object["type"], tool.at.member("type")),
    })),
  );

/** The name of a namespace's function elsewhere: Codex's namespaces of MCP servers end in `__` themselves. */
export const flatName = (namespace: string, name: string): string =>
  namespace.endsWith("__") ? namespace + name : `${namespace}__${name}`;

function namespaced({ object, at }: LocatedBody): Tool[] {
  const namespace = textAt(object["name"], at.member("name"));
  readObject(object, at, { type: ignored, name: ignored, description: ignored, tools: ignored });
  return objectsAt(object["tools"] ?? [], at.member("tools")).map((inner) => {
    const isCustom = inner.object["type"] === "custom";
    if (!isCustom && inner.object["type"] !== "function")
      throw malformed(inner.at.member("type"), "function or custom");
    const tool = isCustom ? customTool(inner) : chatFunction(inner);
    const own = { namespace, name: tool.name };
    const form: ToolForm = isCustom ? { as: "custom", own } : { as: "namespaced", ...own };
    return { ...tool, name: flatName(namespace, own.name), form };
  });
}

/** A search that the client runs is a function; at the vendor's own, all tools are offered at once (`offerTools`). */
function searching({ object, at }: LocatedBody): Tool[] | "vendor" {
  if (object["execution"] !== "client") return "vendor";
  const { execution: _, ...definition } = object;
  const found = chatFunction({ object: { name: "tool_search", ...definition }, at });
  return [{ ...found, form: { as: "tool_search" } }];
}

const hostedSearch = (tool: unknown): boolean =>
  isJson(tool) && tool["type"] === "tool_search" && tool["execution"] !== "client";

/** Items that offer tools from there on: what a search of the client's found, and what a developer adds. */
const OFFERS = new Set<unknown>(["tool_search_output", "additional_tools"]);

/** Adds the tools that items of the conversation offer, and leaves out those that none has found yet. */
export function offerTools(prompt: Prompt, { object: body, at }: LocatedBody): void {
  const items = Array.isArray(body["input"]) ? body["input"] : [];
  const known = new Set(prompt.tools.map(({ name }) => name));
  const found = items.flatMap((item, index) =>
    isJson(item) && OFFERS.has(item["type"])
      ? responsesTools(item["tools"] ?? [], at.member("input").item(index).member("tools"))
      : [],
  );
  for (const tool of found) if (!known.has(tool.name)) prompt.tools.push(tool);
  const tools = body["tools"] ? listAt(body["tools"], at.member("tools")) : [];
  offerFound(prompt, tools.some(hostedSearch) ? null : new Set(found.map(({ name }) => name)));
}
