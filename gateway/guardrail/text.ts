import { words } from "#shared/words.ts";
import { isMediaHolder, mediaText } from "./media.ts";

/** Top-level members that are not text: labels (spec, Common request inputs) or names that select the model. */
const LABELS = new Set(["model", "route", "user", "metadata", "service_tier"]);
/** Members whose own members are named by the user: a tool's arguments and results. */
const OWN_NAMES = new Set(["action", "arguments", "args", "response"]);
/** Members of a JSON schema whose members are named by the user. */
const SCHEMA_NAMES = new Set(["$defs", "definitions", "patternProperties", "properties"]);
/** Nesting limit for JSON inside strings (tool arguments). */
const JSON_IN_JSON_MAX = 8;

/** Numbers this large may be card or account numbers. */
const LONG_NUMBER = 10_000_000;

type Found = {
  name: string;
  value: unknown;
  /** How deep in JSON inside JSON. */
  level: number;
  /** In a tool's arguments or results: names are text too, and nothing is left out. */
  own: boolean;
  /** The object with this member, if it carries media. */
  media: object | null;
};

/**
 * All texts in a request that the provider would read, decoded: message parts, tool arguments, results and descriptions,
 * text documents and so on. Also JSON inside strings, normalized Unicode spellings, long numbers, and the joined parts of
 * a message. Labels, kinds and media are left out. In no particular order.
 */
export function textsOf(members: Iterable<readonly [string, unknown]>): string[] {
  const texts: string[] = [];
  const waiting: Found[] = [];
  for (const [name, value] of members) {
    if (LABELS.has(name)) continue;
    const holder = isMediaHolder({}, { name, within: false, top: true }) ? {} : null;
    waiting.push({ name, value, level: 0, own: OWN_NAMES.has(name), media: holder });
  }
  for (let found = waiting.pop(); found; found = waiting.pop()) {
    if (typeof found.value === "string") readText(found, found.value, { texts, waiting });
    else if (typeof found.value === "number" && Math.abs(found.value) >= LONG_NUMBER) {
      texts.push(String(found.value));
    } else if (typeof found.value === "object" && found.value !== null) {
      readMembers(found, found.value, { texts, waiting });
    }
  }
  return texts;
}

type Reading = { texts: string[]; waiting: Found[] };

function readText({ name, level, own, media }: Found, text: string, { texts, waiting }: Reading): void {
  if (!own && saysKind(name, text)) return;
  const carried = media && !own ? mediaText(media, name, text) : null;
  if (carried === "media") return;
  texts.push(...spellings(text));
  const inner = { name: "", level: level + 1, own: true, media: null };
  if (level >= JSON_IN_JSON_MAX) return;
  if (carried?.decoded) waiting.push({ ...inner, value: carried.decoded });
  for (const value of jsonIn(text)) waiting.push({ ...inner, value });
}

function readMembers(found: Found, holder: object, { texts, waiting }: Reading): void {
  const { name, level, own, media } = found;
  if (Array.isArray(holder)) {
    for (const value of holder) waiting.push({ name, value, level, own, media });
    const parts = holder.flatMap(textPart);
    if (parts.length > 1) texts.push(...spellings(parts.join("")));
    return;
  }
  const carries = !own && isMediaHolder(holder, { name, within: media !== null, top: false });
  const isToolUse = "type" in holder && typeof holder.type === "string" && holder.type.endsWith("tool_use");
  const namesAreText = own || SCHEMA_NAMES.has(name);
  for (const [key, value] of Object.entries(holder)) {
    if (namesAreText) texts.push(...spellings(key));
    const ownValue = own || OWN_NAMES.has(key) || (isToolUse && key === "input");
    waiting.push({ name: key, value, level, own: ownValue, media: carries ? holder : null });
  }
}

/** A model reads the parts of a message as one text. */
const textPart = (part: unknown): string[] =>
  typeof part === "object" && part !== null && "text" in part && typeof part.text === "string"
    ? [part.text]
    : [];

const ESCAPED_STRING = /"[^"\\]*(?:\\.[^"\\]*)+"/gs;

/** JSON in a text, and the strings in it that are escaped, which the former lacks where a name is there twice. */
function jsonIn(text: string): unknown[] {
  if (!/^\s{0,64}[[{]/.test(text)) return [];
  const strings = text.match(ESCAPED_STRING) ?? [];
  return [text, ...strings].flatMap((json) => {
    try {
      return [JSON.parse(json)];
    } catch {
      return [];
    }
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII includes them.
const ASCII = /^[\u0000-\u007f]*$/;
/** Unicode's stream-safe limit: with more marks on one letter, normalization takes quadratic time. */
const MARKS_TOO_MANY = /(\p{M}{30})\p{M}+/gu;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu;

/** The text, and its undisguised form: full-width and styled letters made plain, invisible characters removed. */
function spellings(text: string): string[] {
  if (ASCII.test(text)) return [text];
  const plain = text.replace(MARKS_TOO_MANY, "$1").normalize("NFKC").replace(INVISIBLE, "");
  return plain === text ? [text] : [text, plain];
}

/** Values of `role` and `type` in vendors' formats. Any other value may be user text. */
const ROLES = "assistant developer function model system tool user";

const TYPES = `
  additional_tools apply_patch_call apply_patch_call_output array audio base64 boolean code_interpreter_call compaction compaction_trigger computer_call
  computer_call_output computer_screenshot content custom custom_tool_call custom_tool_call_output document ephemeral file
  file_search file_search_call function function_call function_call_output grammar image image_generation
  image_generation_call image_url input_audio input_file input_image input_text integer item_reference json_object
  json_schema local_shell local_shell_call local_shell_call_output mcp mcp_approval_request mcp_approval_response mcp_call
  mcp_list_tools mcp_tool_result mcp_tool_use message null number object output_text reasoning reasoning_text
  redacted_thinking refusal search_result server_tool_use shell_call shell_call_output string summary_text text thinking
  tool_reference tool_result tool_use url video video_url web_search web_search_call web_search_tool_result
`;

const KINDS: Readonly<Record<string, ReadonlySet<string>>> = {
  role: new Set(words(ROLES)),
  type: new Set(words(TYPES)),
};

/** Whether a member only says what kind of object it is in. */
const saysKind = (name: string, text: string): boolean =>
  Object.hasOwn(KINDS, name) && KINDS[name]?.has(text) === true;
