import { NO_USAGE, type Usage } from "#shared/usage.ts";
import type { StreamProgress, StreamReader } from "../reading.ts";
import { includesBytes, type Needle, needle, type Search, searcher, seekAny } from "./byte-search.ts";
import { type ProviderObject, parseObject } from "./provider-json.ts";
import { readingOf } from "./wire.ts";

/** What a stream has brought so far. */
export type StreamState = StreamProgress & {
  usage: Usage;
  model: string | null;
  tier: string | null;
  /** The usage is not all that is billed. */
  billsMore?: boolean;
};

export type StreamRules = {
  /** ASCII texts of which an event must hold one to be read once content was seen. */
  markers: readonly string[];
  /** Updates `state` from an event. */
  update(state: StreamState, type: string, event: ProviderObject): void;
};

/**
 * Opens readers of one of OpenAI's newer streams, whose every event has a `type` and of which one of the last reports
 * the usage.
 */
export function typedStreams({ markers: telling, update: take }: StreamRules): () => StreamReader {
  const texts = ['"error"', ...telling].map(needle);
  const searches = texts.map(searcher);
  return () => typedStream({ texts, searches, take });
}

type Opened = { texts: readonly Needle[]; searches: readonly Search[]; take: StreamRules["update"] };

function typedStream({ texts, searches, take }: Opened): StreamReader {
  const state: StreamState = {
    contentSeen: false,
    terminalSeen: false,
    usage: NO_USAGE,
    model: null,
    tier: null,
  };
  // A search instead of a parse: as vendors spell these names; inside a JSON string the quotes would be escaped.
  const hasMarker = (data: Uint8Array) => texts.some((text) => includesBytes(data, text));
  return {
    seek(chunk) {
      const next = seekAny(chunk, searches);
      return (from) => (state.contentSeen ? next(from) : from);
    },
    event(data) {
      const event = state.contentSeen && !hasMarker(data) ? null : parseObject(data);
      const type = event?.["type"];
      if (event && typeof type === "string") take(state, type, event);
      return false;
    },
    progress: state,
    reading(complete) {
      const { usage, model, tier, terminalSeen, billsMore } = state;
      return readingOf({ usage, model, tier, final: (complete || terminalSeen) && !billsMore });
    },
  };
}
