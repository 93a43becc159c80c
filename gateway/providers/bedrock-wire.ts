import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { countOf, nameOf, objectOf, type ProviderObject, parseObject } from "./provider-json.ts";
import { VENDOR_WIRE } from "./vendor-wire.ts";
import { OPENAI_LIKE_WIRE, readingOf, type Wire } from "./wire.ts";

/**
 * Answers of Bedrock's own addresses, whichever vendor's body they have. Tokens are in `usage` (`converse`, Amazon's models), else in
 * headers or in a stream's last chunk, which Bedrock adds for every vendor (AWS, "InvokeModel", "InvokeModelWithResponseStream").
 */
export const BEDROCK_WIRE: Wire = {
  ...OPENAI_LIKE_WIRE,
  readAnswer(bytes, facts, headers) {
    const usage = usageIn(parseObject(bytes)) ?? usageBy((name) => countIn(headers?.get(headerOf(name))));
    return usage ? readingOf({ ...FINAL, usage }) : VENDOR_WIRE.readAnswer(bytes, facts);
  },
  openStream() {
    const progress = { contentSeen: false, terminalSeen: false };
    let usage: Usage | null = null;
    let failure: string | undefined;
    return {
      event(data) {
        const event = parseObject(data);
        const error = event?.["type"] === "error" ? objectOf(event["error"]) : null;
        if (error) failure = nameOf(error["type"]) ?? "api_error";
        progress.contentSeen = true;
        usage = usageIn(event) ?? usage;
        return false;
      },
      progress,
      reading: (final) => readingOf({ ...FINAL, final, usage, failure }),
    };
  },
  endsWithBody: true,
  awsFrames: true,
};

const FINAL = { model: null, tier: null, final: true };

const usageIn = (answer: ProviderObject | null): Usage | null => {
  const told =
    objectOf(answer?.["amazon-bedrock-invocationMetrics"]) ??
    objectOf((objectOf(answer?.["metadata"]) ?? answer)?.["usage"]);
  return usageBy((name) => countOf(told?.[`${name}TokenCount`]) ?? countOf(told?.[`${name}Tokens`]));
};

type Count = "input" | "output" | "cacheReadInput" | "cacheWriteInput";

/** The input comes without what was cached. */
function usageBy(count: (name: Count) => number | null): Usage | null {
  const uncachedInputTokens = count("input");
  if (uncachedInputTokens === null) return null;
  return {
    ...NO_USAGE,
    uncachedInputTokens,
    outputTokens: count("output") ?? 0,
    cacheReadTokens: count("cacheReadInput"),
    cacheWrite5mTokens: count("cacheWriteInput"),
  };
}

const headerOf = (name: Count): string =>
  `x-amzn-bedrock-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}-token-count`;

const countIn = (header: string | null | undefined): number | null =>
  header && /^\d{1,12}$/.test(header) ? Number(header) : null;
