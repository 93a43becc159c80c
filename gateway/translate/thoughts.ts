import { objectIn, textIn } from "./exact-json.ts";
import type { Part, Prompt } from "./prompt.ts";
import type { Block } from "./reply.ts";

/**
 * How a provider takes its thoughts back. `vendor` names who can read them: no other vendor gets them. In the chat format they
 * are a text in `reasoning_content`, without which some vendors refuse a call of a tool, or OpenRouter's signed `reasoning_details`.
 */
export type ThoughtsFacts = { vendor: string; in?: "reasoning_content" | "reasoning_details" };

/** Leaves the thoughts in the prompt that the vendor made, and texts of unknown makers, which carry no signature. */
export function keepOwnThoughts(prompt: Prompt, { vendor }: ThoughtsFacts): void {
  const isOwn = (part: Part): boolean => {
    if (part.kind !== "thinking" && part.kind !== "redacted" && part.kind !== "extra") return true;
    return part.from === vendor || (part.from === null && part.kind === "thinking");
  };
  prompt.turns = prompt.turns.flatMap((turn) => {
    const parts = turn.parts.filter(isOwn);
    return parts.length === 0 && turn.parts.length > 0 ? [] : [{ ...turn, parts }];
  });
}

/** A vendor that takes texts back refuses a call of a tool without one, also where another vendor's model made it. */
export const NO_THOUGHT = " ";

/** Marks what this gateway packed, among what others put into `encrypted_content` and signatures. */
export const SEAL = "tallygate.1.";

/** Stands in for what clients of Anthropic carry unread. Anthropic gets no part that has it (foreign-thoughts.ts). */
export const UNREADABLE = `${SEAL}${Buffer.from('{"from":"none"}').toString("base64url")}`;

/** Whose they are where a pack does not say. */
const USUAL = { extra: "google", thought: "anthropic" };

/** Packs the thoughts of one vendor. Null for a block that is not a thought, or that its vendor would not take back. */
export type Seal = (block: Block) => string | null;

/**
 * Thoughts, or what a provider wants back beside the next part, as other formats let a client carry them: opaque, in
 * `encrypted_content` or a signature. They are packed, not encrypted: their own vendor's signature is what protects them.
 * `unsigned`: the vendor also takes back what it does not sign.
 */
export const sealOf =
  ({ vendor, unsigned }: { vendor: string; unsigned: boolean }): Seal =>
  (block) => {
    const packed = packedOf(block, unsigned);
    const from = vendor === USUAL[block.kind === "extra" ? "extra" : "thought"] ? {} : { from: vendor };
    return packed && SEAL + Buffer.from(JSON.stringify({ ...packed, ...from })).toString("base64url");
  };

function packedOf(block: Block, unsigned: boolean): object | null {
  if (block.kind === "redacted") return { data: block.data };
  if (block.kind === "extra") return { extra: block.data };
  if (block.kind !== "thinking" || (block.signature === null && !unsigned)) return null;
  return { text: block.text, signature: block.signature };
}

type Unsealed = { from: string } & (
  | { kind: "thinking"; text: string; signature: string | null }
  | { kind: "redacted" | "extra"; data: string }
);

export const isSealed = (value: unknown): value is string =>
  typeof value === "string" && value.startsWith(SEAL);

/** Unpacks what a `Seal` packed; nothing for text that another program packed. */
export function openSealed(text: string): Unsealed[] {
  if (!isSealed(text)) return [];
  const packed = objectIn(Buffer.from(text.slice(SEAL.length), "base64url").toString());
  const from = textIn(packed, "from");
  const [data, extra] = [textIn(packed, "data"), textIn(packed, "extra")];
  if (data !== null) return [{ kind: "redacted", data, from: from ?? USUAL.thought }];
  if (extra !== null) return [{ kind: "extra", data: extra, from: from ?? USUAL.extra }];
  const [thought, signature] = [textIn(packed, "text"), textIn(packed, "signature")];
  if (from === null && signature === null) return [];
  return [{ kind: "thinking", text: thought ?? "", signature, from: from ?? USUAL.thought }];
}

/** In place of a signature that no one knows (ai.google.dev, "Thought signatures"). */
export const UNKNOWN_SIGNATURE = "skip_thought_signature_validator";

/** Another vendor's reasoning in the `thoughtSignature` of the next part, in base64. Null without a thought. */
export function signatureOf(blocks: readonly Block[], seal: Seal): string | null {
  const sealed = blocks.flatMap((block) => seal(block) ?? []);
  return sealed.length === 0 ? null : Buffer.from(sealed.join(" ")).toString("base64");
}

/** Unpacks the result of `signatureOf`; nothing for one of Google's own signatures. */
export const openSignature = (signature: string): ReturnType<typeof openSealed> =>
  Buffer.from(signature, "base64").toString("latin1").split(" ").flatMap(openSealed);
