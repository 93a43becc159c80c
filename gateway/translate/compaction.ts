import { isJson, type Json, objectIn, textIn } from "./exact-json.ts";
import type { LocatedBody } from "./place.ts";
import { type Compacts, type Prompt, plainText } from "./prompt.ts";

// OpenAI's compaction, where its own vendor does not answer: the model writes a summary, which the gateway packs into the
// item's `encrypted_content`, and puts in place as a message wherever a later call has the item.

/** Begins what this gateway packed. */
export const COMPACTED = "tallygate.compacted.1.";

const REQUEST = `Write a summary of this conversation, from which you could continue it without the conversation itself. Include what the user wants, decisions and their reasons, what was done and found (files, commands, results), and what remains to be done. Write nothing but the summary.`;
const SUMMARY = "Summary of the conversation so far:\n\n";

/** What a request asks to be compacted, and how it gets the result; null: nothing. */
export function compactsIn({ input }: Json, whole: boolean): Compacts | null {
  const items: readonly unknown[] = Array.isArray(input) ? input : [{ role: "user", content: input }];
  if (whole) return { messages: items.filter(isUserMessage) };
  const last = items.at(-1);
  return isJson(last) && last["type"] === "compaction_trigger" ? {} : null;
}

const isUserMessage = (item: unknown): item is Json =>
  isJson(item) && item["role"] === "user" && (item["type"] ?? "message") === "message";

/** Has the model write a summary, whatever else the request wants of its answer. */
export function askForSummary(prompt: Prompt, { at }: LocatedBody): void {
  prompt.turns.push({ role: "user", parts: [plainText(REQUEST, at)], at });
  prompt.output = null;
  prompt.toolChoice = prompt.tools.length > 0 ? { value: { kind: "none" }, at } : null;
}

export const packedSummary = (summary: string): string =>
  COMPACTED + Buffer.from(JSON.stringify({ summary })).toString("base64url");

/** The items, each compaction of this gateway's as the message that it means. */
export const withSummaries = (input: readonly unknown[]): unknown[] =>
  input.map((item) => {
    const packed = isJson(item) && item["type"] === "compaction" ? item["encrypted_content"] : null;
    if (typeof packed !== "string" || !packed.startsWith(COMPACTED)) return item;
    const read = objectIn(Buffer.from(packed.slice(COMPACTED.length), "base64url").toString());
    return { type: "message", role: "user", content: SUMMARY + (textIn(read, "summary") ?? "") };
  });
