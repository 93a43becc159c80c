import { NO_USAGE, type Usage } from "#shared/usage.ts";
import type { Reading } from "../reading.ts";

/** What a reader has seen of an answer. `final`: no later figure can come. */
export type Seen = { usage: Usage | null; model: string | null; tier: string | null; final: boolean };

/** The counts that tell by themselves that something was used. */
const TELLING = ["uncachedInputTokens", "outputTokens", "images", "searchUnits"] as const;

/** The reading of an answer. Usage without any figure to charge by is no usage. */
export function readingOf({ usage, model, tier, final }: Seen): Reading {
  const told = usage !== null && TELLING.some((count) => usage[count] !== null);
  return {
    usage: told ? usage : NO_USAGE,
    usageSource: told ? (final ? "provider" : "partial") : "none",
    responseModel: model,
    serviceTier: tier,
  };
}
