/** Top-level members that are not text: labels (spec, Common request inputs) or names that select the model. */
const LABELS = new Set(["model", "route", "user", "metadata", "service_tier"]);
/** Members that give an object's kind; longer values are treated as text. */
const KINDS = new Set(["role", "type"]);
const KIND_LENGTH_MAX = 32;
/** Members that carry files; a value that is entirely base64 is not text. */
const FILES = new Set(["data", "file_data", "b64_json", "url", "image_url", "file_url"]);
const BASE64 = /^(?:data:[\w/+.;=-]{0,128};base64,)?[A-Za-z0-9+/_-]*={0,2}$/;
/** Nesting limit for JSON inside strings (tool arguments). */
const JSON_IN_JSON_MAX = 8;

/** Numbers this large may be card or account numbers. */
const LONG_NUMBER = 10_000_000;

type Found = { name: string; value: unknown; level: number; keys: boolean };

/**
 * All texts in a request that the provider would read, decoded: message parts, tool arguments, results and descriptions
 * and so on. Also JSON inside strings, normalized Unicode spellings, long numbers, and the joined parts of a message.
 * Labels, kinds and files are left out. In no particular order.
 */
export function textsOf(members: Iterable<readonly [string, unknown]>): string[] {
  const texts: string[] = [];
  const waiting: Found[] = [];
  for (const [name, value] of members) {
    if (!LABELS.has(name)) waiting.push({ name, value, level: 0, keys: false });
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

function readText({ name, level }: Found, text: string, { texts, waiting }: Reading): void {
  if (KINDS.has(name) && text.length <= KIND_LENGTH_MAX) return;
  if (FILES.has(name) && BASE64.test(text)) return;
  texts.push(...spellings(text));
  const inside = level < JSON_IN_JSON_MAX ? jsonIn(text) : null;
  if (inside) waiting.push({ name: "", value: inside, level: level + 1, keys: true });
}

/** Member names are the API's vocabulary, not text, except in a tool's arguments. */
function readMembers({ name, level, keys }: Found, holder: object, { texts, waiting }: Reading): void {
  if (Array.isArray(holder)) {
    for (const value of holder) waiting.push({ name, value, level, keys });
    const parts = holder.flatMap(textPart);
    if (parts.length > 1) texts.push(...spellings(parts.join("")));
    return;
  }
  const isToolUse = "type" in holder && holder.type === "tool_use";
  for (const [key, value] of Object.entries(holder)) {
    if (keys) texts.push(...spellings(key));
    waiting.push({ name: key, value, level, keys: keys || (isToolUse && key === "input") });
  }
}

/** A model reads the parts of a message as one text. */
const textPart = (part: unknown): string[] =>
  typeof part === "object" && part !== null && "text" in part && typeof part.text === "string"
    ? [part.text]
    : [];

function jsonIn(text: string): object | null {
  if (!/^\s{0,64}[[{]/.test(text)) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
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
