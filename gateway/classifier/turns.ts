import { isRecord } from "#shared/json.ts";

/** A turn this short ("continue", "yes please") is read together with the user's turn before it. */
const ALONE_MIN_CHARACTERS = 20;

type Json = { readonly [name: string]: unknown };

/** Text parts of a message's content; images, audio, tool calls and tool results carry none. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter(isRecord)
    .filter(({ type, text }) => typeof text === "string" && (type === "text" || type === "input_text"))
    .map(({ text }) => String(text))
    .join("\n");
}

const isUserTurn = (item: unknown): item is Json =>
  isRecord(item) && item["role"] === "user" && (item["type"] === undefined || item["type"] === "message");

function textsOf(items: unknown): string[] {
  const turns = Array.isArray(items)
    ? items.filter(isUserTurn).map(({ content }) => textOf(content))
    : [textOf(items)];
  return turns.map((text) => text.trim()).filter((text) => text !== "");
}

/**
 * Texts of the user's turns in a body of chat completions or messages (`messages`), responses (`input`: a text or a
 * list of items), Gemini's (`contents`) or `/v1/classify` (either), oldest first. System text is not among them. Anything malformed is no turn.
 */
export function turnsOf(body: unknown): string[] {
  if (!isRecord(body)) return [];
  const { contents } = body;
  return textsOf(
    body["messages"] ?? body["input"] ?? (Array.isArray(contents) ? contents.map(geminiTurn) : contents),
  );
}

/** A turn of Gemini's as a message. Its role may be absent; a thought is no text of the user's. */
function geminiTurn(turn: unknown): Json | null {
  if (!isRecord(turn)) return null;
  const { role, parts } = turn;
  const texts = (Array.isArray(parts) ? parts : [parts]).filter(isRecord);
  return { role: role ?? "user", content: texts.map(({ text }) => ({ type: "text", text })) };
}

/** The text to classify: the last user turn, with the one before if under 20 characters. Null: the user wrote none. */
export function textToClassify(turns: readonly string[]): string | null {
  const last = turns.at(-1);
  if (last === undefined) return null;
  const before = turns.at(-2);
  return last.length < ALONE_MIN_CHARACTERS && before !== undefined ? `${before}\n${last}` : last;
}
