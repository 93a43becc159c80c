import type { Json } from "./exact-json.ts";
import { type LocatedBody, lose } from "./place.ts";
import type { Prompt, Tool, ToolForm } from "./prompt.ts";
import { mustSearch } from "./web-search.ts";

/**
 * What becomes of a format's tools, by type (without its date). Tools that the client runs are read as functions, which every format
 * has; `vendor` are run by the format's vendor, and `unfaithful` by the client, in a way that no function describes.
 */
type Row = "vendor" | "unfaithful";
export type ToolTable = Readonly<Record<string, ((tool: LocatedBody) => Tool[] | Row) | Row>>;

type Typed = LocatedBody & { type: string };

const rowOf = (table: ToolTable, type: string): ToolTable[string] | undefined =>
  [type, type.replace(/_(?:\d{8}|\d{4}_\d\d_\d\d)$/, "")].flatMap((name) =>
    Object.hasOwn(table, name) ? [table[name]] : [],
  )[0];

/**
 * The tools of a request as functions. Those that the vendor runs are left out where others remain, because agents offer them
 * with every call; alone, they are what the call is about.
 * @throws GatewayError invalid_request naming a tool that no function can stand in for, or whose type is not in the table.
 */
export function toolsBy(table: ToolTable, tools: readonly Typed[]): Tool[] {
  const vendors: Typed[] = [];
  const functions = tools.flatMap((tool) => {
    const row = rowOf(table, tool.type);
    const read = typeof row === "function" ? row(tool) : row;
    if (typeof read === "object") return read;
    if (read === "vendor") vendors.push(tool);
    else lose(tool.at.member("type"), `no function can stand in for ${named(tool.type)}`);
    return [];
  });
  for (const { at, type } of vendors) {
    if (functions.length > 0) at.drop();
    else lose(at.member("type"), `${named(type)} is run by its vendor`);
  }
  return functions;
}

/** As an error may quote it. */
const named = (type: string): string => (/^[\w.-]{1,64}$/.test(type) ? `the tool \`${type}\`` : "the tool");

/** The tools that no call has found yet are not offered; `found`: those that one has, or null where none can be found. */
export function offerFound(prompt: Prompt, found: ReadonlySet<string> | null): void {
  if (found === null) return;
  const offered = new Set([...found, ...calledNames(prompt)]);
  prompt.tools = prompt.tools.filter(({ name, deferred }) => deferred !== true || offered.has(name));
}

export const calledNames = ({ turns }: Prompt): string[] =>
  turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === "call" ? part.name : [])));

/** A choice of a tool that is not among the functions cannot be kept. @throws GatewayError invalid_request */
export function requireChosenTool(prompt: Prompt): void {
  const { toolChoice: choice, tools } = prompt;
  if (choice?.value.kind !== "tool") return;
  const { name } = choice.value;
  if (tools.some((tool) => tool.name === name) || mustSearch(prompt)) return;
  lose(choice.at, "it names a tool that cannot be offered");
  prompt.toolChoice = null;
}

const text = { type: "string" };
const count = { type: "integer" };
const object = (properties: Json, ...required: string[]): Json => ({ type: "object", properties, required });

const EDITED = {
  path: text,
  view_range: { type: "array", items: count },
  file_text: text,
  old_str: text,
  new_str: text,
  insert_line: count,
  insert_text: text,
};

/** Arguments of tools that a vendor defines and the client runs, as the vendors document them. */
export const SCHEMAS = {
  custom: object({ input: text }, "input"),
  local_shell: object(
    {
      command: { type: "array", items: text, description: "The program and its arguments." },
      working_directory: text,
      timeout_ms: count,
    },
    "command",
  ),
  shell: object(
    {
      commands: { type: "array", items: text, description: "Shell commands to run." },
      timeout_ms: count,
      max_output_length: count,
    },
    "commands",
  ),
  apply_patch: object(
    {
      type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
      path: text,
      diff: { type: "string", description: "The change in V4A diff format; none to delete a file." },
    },
    "type",
    "path",
  ),
  bash: object({ command: text, restart: { type: "boolean", description: "Restarts the shell." } }),
  text_editor: object(
    {
      command: { type: "string", enum: ["view", "create", "str_replace", "insert"] },
      ...EDITED,
    },
    "command",
    "path",
  ),
  memory: object(
    {
      command: { type: "string", enum: ["view", "create", "str_replace", "insert", "delete", "rename"] },
      ...EDITED,
      old_path: text,
      new_path: text,
    },
    "command",
  ),
} as const satisfies Record<string, Json>;

const DESCRIPTIONS: Readonly<Partial<Record<keyof typeof SCHEMAS, string>>> = {
  local_shell: "Runs a command on the user's computer.",
  shell: "Runs shell commands on the user's computer.",
  apply_patch: "Creates, updates or deletes a file.",
  bash: "Runs a command in a shell that keeps its state.",
  text_editor: "Views and edits files: lines are numbered from 1; `old_str` must occur once.",
  memory: "Views and edits files below /memories, which keep what is worth remembering.",
};

/** A tool of a vendor's as a function. */
export const definedTool = (
  kind: keyof typeof SCHEMAS,
  { name, form }: { name: string; form?: ToolForm },
): Tool => ({
  name,
  description: DESCRIPTIONS[kind] ?? null,
  schema: SCHEMAS[kind],
  strict: null,
  cache: null,
  ...(form && { form }),
});
