import { NO_USAGE, type Usage } from "#shared/usage.ts";
import type { StreamProgress, StreamReader } from "../reading.ts";
import { includesBytes, type Needle, needle } from "./byte-search.ts";
import type { ProviderFacts } from "./provider-facts.ts";
import { errorNameOf, failureIn, type ProviderObject, parseObject } from "./provider-json.ts";
import { type AnswerFacts, readingOf } from "./wire.ts";

type Found = Pick<AnswerFacts, "model" | "tier" | "cost" | "variant" | "audioSeconds" | "billsMore">;

export type StreamState = StreamProgress &
  Found & {
    usage: Usage;
    keptId?: string | null;
    keptIds?: Set<string>;
    /** The provider continues without the stream. */
    inBackground?: boolean;
    /** The name of the error that ended it. */
    failure?: string;
    readonly facts: ProviderFacts;
  };

export type StreamRules = {
  /** ASCII texts; after content was seen, only events that contain one of them are parsed. */
  markers: readonly string[];
  update(state: StreamState, type: string, event: ProviderObject): void;
};

/** Opens readers of OpenAI's newer streams: every event has a `type`, and one of the last reports the usage. */
export function typedStreams({ markers, update }: StreamRules): (facts: ProviderFacts) => StreamReader {
  const texts = ['"error"', ...markers].map(needle);
  return (facts) => typedStream({ texts, update }, facts);
}

type Opened = { texts: readonly Needle[]; update: StreamRules["update"] };

function typedStream({ texts, update }: Opened, facts: ProviderFacts): StreamReader {
  const state: StreamState = {
    contentSeen: false,
    terminalSeen: false,
    usage: NO_USAGE,
    model: null,
    tier: null,
    facts,
  };
  // A search instead of a parse: as vendors spell these names; inside a JSON string the quotes would be escaped.
  const hasMarker = (data: Uint8Array) => texts.some((text) => includesBytes(data, text));
  return {
    event(data) {
      const event = state.contentSeen && !hasMarker(data) ? null : parseObject(data);
      const type = event?.["type"];
      if (!event) return false;
      const failure = type === "error" ? (failureIn(event) ?? errorNameOf(event)) : failureIn(event);
      if (failure !== undefined) state.failure = failure;
      if (typeof type === "string") update(state, type, event);
      return false;
    },
    progress: state,
    reading(complete) {
      const { usage, model, tier, keptId, keptIds = [], terminalSeen } = state;
      const { cost = null, billsMore = false, variant = null, audioSeconds = null, failure } = state;
      const reading = readingOf({
        usage,
        model,
        tier,
        keptId,
        keptIds: [...keptIds],
        final: complete || terminalSeen,
        cost,
        billsMore,
        variant,
        audioSeconds,
        failure,
      });
      return state.inBackground && keptId && !terminalSeen ? { ...reading, pending: true } : reading;
    },
  };
}
