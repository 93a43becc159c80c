import type { Part, Prompt } from "./prompt.ts";

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
