import { extraInto, stopInto } from "../common-members.ts";
import { dropped, into, type MemberReader, neutral } from "../members.ts";
import { type BodyPlace, lose } from "../place.ts";
import type { Effort, OutputFormat, Prompt } from "../prompt.ts";
import { schemaOutput } from "../prompt.ts";
import { effortOfBudget } from "../reasoning.ts";
import { flagAt, located, numberAt, objectAt, oneOfAt, textAt } from "../values.ts";
import { objectReader } from "./proto.ts";
import { jsonSchemaOf } from "./schema-in.ts";

/** The members that the answer's writer needs. */
export type Wanted = { thoughts: boolean };

type Format = { mimeType: string; schema: OutputFormat | null };

export const readGenerationConfig =
  (prompt: Prompt, wanted: Wanted): MemberReader =>
  (value, at) => {
    const format: Format = { mimeType: "text/plain", schema: null };
    objectReader({
      temperature: into(prompt, "temperature", located(numberAt)),
      topP: into(prompt, "topP", located(numberAt)),
      maxOutputTokens: into(prompt, "maxTokens", located(numberAt)),
      stopSequences: stopInto(prompt),
      topK: extraInto(prompt, "top_k"),
      seed: extraInto(prompt, "seed"),
      candidateCount: neutral(1),
      presencePenalty: extraInto(prompt, "presence_penalty", ["0"]),
      frequencyPenalty: extraInto(prompt, "frequency_penalty", ["0"]),
      responseLogprobs: neutral(false),
      logprobs: neutral(0),
      responseModalities: neutral(["TEXT"]),
      audioTimestamp: neutral(false),
      // How finely media is read: other vendors decide it.
      mediaResolution: dropped,
      enableEnhancedCivicAnswers: dropped,
      thinkingConfig: objectReader({
        includeThoughts: into(wanted, "thoughts", flagAt),
        thinkingBudget: (budget, place) => readBudget(numberAt(budget, place), place, prompt),
        thinkingLevel: (level, place) => readLevel(level, place, prompt),
      }),
      responseMimeType: into(format, "mimeType", textAt),
      responseSchema: into(format, "schema", (schema, place) =>
        schemaOutput(jsonSchemaOf(objectAt(schema, place)), place),
      ),
      responseJsonSchema: into(format, "schema", (schema, place) =>
        schemaOutput(objectAt(schema, place), place),
      ),
    })(value, at);
    readFormat(format, at, prompt);
  };

function readFormat({ mimeType, schema }: Format, at: BodyPlace, prompt: Prompt): void {
  const place = at.member("responseMimeType");
  if (mimeType === "application/json") prompt.output = schema ?? { kind: "json", at: place };
  else if (mimeType !== "text/plain") lose(place);
  else if (schema) prompt.output = schema;
}

/** A negative budget leaves the amount to the model, as other vendors' models do unasked; 0 asks for none. */
function readBudget(budget: number, at: BodyPlace, prompt: Prompt): void {
  prompt.reasoning.off = budget === 0;
  if (budget <= 0) {
    at.drop();
    return;
  }
  prompt.reasoning.effort ??= { value: effortOfBudget(budget), at };
}

const LEVELS = ["MINIMAL", "LOW", "MEDIUM", "HIGH", "THINKING_LEVEL_UNSPECIFIED"] as const;
const EFFORTS: Readonly<Record<(typeof LEVELS)[number], Effort | null>> = {
  MINIMAL: "minimal",
  LOW: "low",
  MEDIUM: "medium",
  HIGH: "high",
  THINKING_LEVEL_UNSPECIFIED: null,
};

function readLevel(level: unknown, at: BodyPlace, prompt: Prompt): void {
  const effort = EFFORTS[oneOfAt(textAt(level, at).toUpperCase(), at, LEVELS)];
  if (effort !== null) prompt.reasoning.effort = { value: effort, at };
}
