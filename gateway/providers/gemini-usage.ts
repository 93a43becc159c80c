import { NO_USAGE, type Usage } from "#shared/usage.ts";
import type { ProviderObject } from "./provider-json.ts";
import { countOf, inputParts, listOf, nameOf, objectOf, partOf, sumOf } from "./provider-json.ts";

/**
 * Gemini's `usageMetadata` in normal form. The prompt includes cached tokens; tool results that Google fed back to the
 * model are input besides; thoughts are output besides the candidates (ai.google.dev, "Generating content"). Counts of 0
 * are left out, so what is missing is taken from the total.
 */
export function geminiUsage(metadata: ProviderObject): Usage {
  const prompt = countOf(metadata["promptTokenCount"]);
  const toolUse = countOf(metadata["toolUsePromptTokenCount"]);
  const input = prompt === null ? null : sumOf(prompt, toolUse);
  const thoughts = countOf(metadata["thoughtsTokenCount"]);
  const output = outputOf(metadata, input, thoughts);
  const parts = inputParts(input, { read: countOf(metadata["cachedContentTokenCount"]) });
  const { promptTokensDetails: prompts, candidatesTokensDetails: candidates } = metadata;
  return {
    ...NO_USAGE,
    ...parts,
    outputTokens: output,
    reasoningTokens: partOf(thoughts, output),
    audioInputTokens: partOf(countIn(prompts, "AUDIO") || null, input),
    audioOutputTokens: partOf(countIn(candidates, "AUDIO") || null, output),
    imageInputTokens: partOf(countIn(prompts, "IMAGE"), input),
    imageOutputTokens: partOf(countIn(candidates, "IMAGE"), output),
    cacheReadAudioTokens: partOf(countIn(metadata["cacheTokensDetails"], "AUDIO"), parts.cacheReadTokens),
  };
}

/** The total decides where it says more or less than the parts do. */
function outputOf(metadata: ProviderObject, input: number | null, thoughts: number | null): number | null {
  const candidates = countOf(metadata["candidatesTokenCount"]);
  const total = countOf(metadata["totalTokenCount"]);
  if (total !== null && input !== null && total >= input && total - input >= (candidates ?? 0)) {
    return total - input;
  }
  return candidates === null ? null : sumOf(candidates, thoughts);
}

/** Tokens of a modality in a breakdown, which leaves out those of 0; null without one. */
function countIn(details: unknown, modality: string): number | null {
  const parts = listOf(details).map(objectOf);
  const counts = parts
    .filter((one) => one?.["modality"] === modality)
    .map((one) => countOf(one?.["tokenCount"]));
  return parts.length === 0 ? null : sumOf(...counts);
}

const OUTPUTS = ["TEXT", "IMAGE", "AUDIO", "MODALITY_UNSPECIFIED"];
const INPUTS = [...OUTPUTS, "VIDEO", "DOCUMENT"];
/** The modalities of a breakdown that have a price. */
const PRICED_MODALITIES = {
  promptTokensDetails: INPUTS,
  toolUsePromptTokensDetails: INPUTS,
  cacheTokensDetails: INPUTS,
  candidatesTokensDetails: OUTPUTS,
};

/** Whether there are tokens of a modality that is not known, which may have another price. */
export const hasUnknownModality = (metadata: ProviderObject | null): boolean =>
  Object.entries(PRICED_MODALITIES).some(([name, priced]) =>
    listOf(metadata?.[name])
      .map(objectOf)
      .some(
        (one) =>
          (countOf(one?.["tokenCount"]) ?? 0) > 0 && !priced.includes(nameOf(one?.["modality"]) ?? "TEXT"),
      ),
  );

/** What Google's names for tiers begin with: `SERVICE_TIER_FLEX`, `ON_DEMAND_FLEX`. */
const PREFIX = /^(?:service_tier_|on_demand_)/;
const USUAL = new Set(["unspecified", "traffic_type_unspecified", "standard", "on_demand"]);

/** The tier in the spelling of pricing/tier.ts; null for the usual one. */
export function geminiTier({ serviceTier, trafficType }: ProviderObject): string | null {
  const named = [serviceTier, trafficType].flatMap(
    (one) => nameOf(one)?.toLowerCase().replace(PREFIX, "") ?? [],
  );
  return named.find((tier) => !USUAL.has(tier)) ?? null;
}

/** The same where Vertex answers in OpenAI's format: `usage.extra_properties.google.traffic_type`. */
export const trafficIn = (usage: ProviderObject | null): string | null =>
  geminiTier({ trafficType: objectOf(objectOf(usage?.["extra_properties"])?.["google"])?.["traffic_type"] });

const groundings = (answer: ProviderObject): (ProviderObject | null)[] =>
  listOf(answer["candidates"]).map((one) => objectOf(objectOf(one)?.["groundingMetadata"]));

/** Whether an answer is grounded in something else than a search of the web: maps, pictures, the caller's own data. */
export const isGroundedOtherwise = (answer: ProviderObject): boolean =>
  groundings(answer).some(
    (grounding) =>
      ["imageSearchQueries", "retrievalQueries"].some((name) => listOf(grounding?.[name]).length > 0) ||
      listOf(grounding?.["groundingChunks"]).some((chunk) => objectOf(objectOf(chunk)?.["maps"]) !== null),
  );

/** Models before Gemini 3 are billed per grounded prompt, later ones per search query. */
const BILLED_PER_PROMPT = /gemini-[12]/;

/** Google searches that an answer was grounded in, as they are billed; null if there were none. */
export function groundedSearches(answer: ProviderObject): number | null {
  const queries = groundings(answer).flatMap((grounding) => listOf(grounding?.["webSearchQueries"]));
  if (queries.length === 0) return null;
  return BILLED_PER_PROMPT.test(String(answer["modelVersion"])) ? 1 : queries.length;
}
