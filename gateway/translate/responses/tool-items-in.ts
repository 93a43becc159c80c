import { words } from "#shared/words.ts";
import { isJson, type Json, textIn, wordOf } from "../exact-json.ts";
import { type BodyPlace, malformed } from "../place.ts";
import { type Part, plainText } from "../prompt.ts";
import { listAt, textAt } from "../values.ts";
import { flatName } from "./tools-in.ts";

/** Tools that the vendor runs itself. Their items hold call and result; the model's use of them follows as text. */
const VENDOR_RAN = new Set(
  words(`
  code_interpreter_call file_search_call image_generation_call mcp_approval_request mcp_approval_response
  mcp_call mcp_list_tools tool_search_call tool_search_output web_search_call
`),
);

/** Tools of the vendor's that the client runs, by the type of their calls: the tool's name, and the member with its input. */
const CLIENT_RAN: Readonly<Record<string, { name: string | null; input: string }>> = {
  apply_patch_call: { name: "apply_patch", input: "operation" },
  custom_tool_call: { name: null, input: "input" },
  local_shell_call: { name: "local_shell", input: "action" },
  shell_call: { name: "shell", input: "action" },
  tool_search_call: { name: "tool_search", input: "arguments" },
};

export const isVendorRan = (type: unknown): boolean => typeof type === "string" && VENDOR_RAN.has(type);

/** A call of such a tool, or its output, as those of a function; null for any other item. */
export function clientToolPart(item: Json, at: BodyPlace): Part | null {
  const type = wordOf(item["type"]);
  if (type.startsWith("tool_search_")) {
    if (item["execution"] !== "client") return null;
    if (type === "tool_search_output") return foundPart(item, at);
  }
  const call = Object.hasOwn(CLIENT_RAN, type) ? CLIENT_RAN[type] : undefined;
  if (call) {
    const own = call.name ?? textAt(item["name"], at.member("name"));
    const namespace = textIn(item, "namespace");
    const name = namespace === null ? own : flatName(namespace, own);
    return { kind: "call", id: callId(item, at), name, input: inputOf(item, call.input), cache: null, at };
  }
  if (!type.endsWith("_output") || !Object.hasOwn(CLIENT_RAN, type.slice(0, -"_output".length))) return null;
  const output = plainText(textOf(item["output"]), at.member("output"));
  return { kind: "result", callId: callId(item, at), parts: [output], failed: false, cache: null, at };
}

/** What a search found is offered from now on (tools-in.ts). */
function foundPart(item: Json, at: BodyPlace): Part {
  const names = listAt(item["tools"] ?? [], at.member("tools")).map((tool) =>
    textIn(isJson(tool) ? tool : null, "name"),
  );
  const parts = [plainText(`Found, and offered from now on: ${names.join(", ") || "nothing"}.`, at)];
  return { kind: "result", callId: callId(item, at), parts, failed: false, cache: null, at };
}

/** Outputs of a local shell have the call's id as their own. */
function callId({ call_id: id, id: own }: Json, at: BodyPlace): string {
  const found = id ?? own;
  if (typeof found !== "string" || found === "") throw malformed(at.member("call_id"), "a string");
  return found;
}

/** Functions take an object, a custom tool takes a text. */
function inputOf(item: Json, member: string): string {
  const input = item[member] ?? {};
  return JSON.stringify(typeof input === "string" ? { input } : input);
}

const textOf = (output: unknown): string =>
  typeof output === "string" ? output : JSON.stringify(output ?? "");
