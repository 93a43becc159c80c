import { protoMember } from "../../google-format.ts";
import { dropped, ignored, into, type LocatedBody, malformed, refused } from "../members.ts";
import { type AnswerOptions, emptyPrompt, type Prompt, type PromptTurn } from "../prompt.ts";
import { readGenerationConfig, type Wanted } from "./config-in.ts";
import { geminiTurns, systemTurn } from "./content-in.ts";
import { readProto } from "./proto.ts";
import { geminiTools, readToolConfig } from "./tools-in.ts";

/** Reads a generateContent request. Whether it is streamed is not in it but in its address. */
export function readGeminiRequest({ object: body, at }: LocatedBody): {
  prompt: Prompt;
  options: AnswerOptions;
} {
  const prompt = emptyPrompt();
  const wanted: Wanted = { thoughts: false };
  const system: { turns: PromptTurn[] } = { turns: [] };
  readProto(
    { object: body, at },
    {
      // Read by the gateway itself.
      model: ignored,
      route: ignored,
      contents: into(prompt, "turns", geminiTurns),
      systemInstruction: into(system, "turns", (value, place) => [systemTurn(value, place)]),
      tools: into(prompt, "tools", geminiTools),
      // Read after the tools that it names.
      toolConfig: ignored,
      generationConfig: readGenerationConfig(prompt, wanted),
      // The vendor's own filters, and labels and logs that it keeps.
      safetySettings: dropped,
      labels: dropped,
      store: dropped,
      // The vendor's own capacity: the answer is the same.
      serviceTier: dropped,
      // Part of what was said, in the vendor's store.
      cachedContent: refused,
    },
  );
  if (prompt.turns.length === 0) throw malformed(at.member("contents"), "an array with a turn");
  const config = protoMember(body, "toolConfig");
  if (config !== undefined && config !== null) readToolConfig(config, at.member("toolConfig"), prompt);
  prompt.turns.unshift(...system.turns);
  return {
    prompt,
    options: {
      streamed: false,
      usageChunk: true,
      thinking: wanted.thoughts,
      signed: true,
      stop: prompt.stop,
      kept: false,
      echo: {},
    },
  };
}
