import { NO_USAGE, type Usage } from "#shared/usage.ts";
import type { StreamReader } from "../reading.ts";
import { objectOf, type Told, toldIn } from "./provider-json.ts";
import { readingOf } from "./reading-of.ts";
import { holds, type Needle, needle, type Search, searchFor, seekIn } from "./telling-text.ts";

/** What a stream has shown so far. */
export type Shown = {
  content: boolean;
  /** The wire's own last event was seen. */
  terminal: boolean;
  usage: Usage;
  model: string | null;
  tier: string | null;
  /** The usage is not all that is billed. */
  billsMore?: boolean;
};

export type StreamRules = {
  /** ASCII texts of which an event must hold one to be read once content was seen. */
  telling: readonly string[];
  /** Notes in `shown` what the event tells. */
  take(shown: Shown, type: string, event: Told): void;
};

/**
 * Opens readers of one of OpenAI's newer streams, whose every event says its `type` and of which one of the last tells
 * the usage.
 */
export function typedStreams({ telling, take }: StreamRules): () => StreamReader {
  const texts = ['"error"', ...telling].map(needle);
  const searches = texts.map(searchFor);
  return () => typedStream({ texts, searches, take });
}

type Opened = { texts: readonly Needle[]; searches: readonly Search[]; take: StreamRules["take"] };

function typedStream({ texts, searches, take }: Opened): StreamReader {
  const shown: Shown = { content: false, terminal: false, usage: NO_USAGE, model: null, tier: null };
  let errorSeen = false;
  // A search instead of a parse: as vendors spell these names; inside a JSON string the quotes would be escaped.
  const tells = (data: Uint8Array) => texts.some((text) => holds(data, text));
  return {
    seek(chunk) {
      const next = seekIn(chunk, searches);
      return (from) => (shown.content ? next(from) : from);
    },
    event(data) {
      const event = shown.content && !tells(data) ? null : toldIn(data);
      const type = event?.["type"];
      if (event && (type === "error" || objectOf(event["error"]))) errorSeen = true;
      if (event && typeof type === "string") take(shown, type, event);
      return false;
    },
    get contentSeen() {
      return shown.content;
    },
    get terminalSeen() {
      return shown.terminal;
    },
    get errorSeen() {
      return errorSeen;
    },
    reading(complete) {
      const { usage, model, tier, terminal, billsMore } = shown;
      return readingOf({ usage, model, tier, final: (complete || terminal) && !billsMore });
    },
  };
}
