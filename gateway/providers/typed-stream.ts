import { NO_USAGE, type Usage } from "#shared/usage.ts";
import type { StreamReader } from "../reading.ts";
import { holds, objectOf, type Told, toldIn } from "./provider-json.ts";
import { readingOf } from "./reading-of.ts";

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

/** A reader of OpenAI's newer streams, whose every event says its `type` and of which one of the last tells the usage. */
export function typedStream({ telling, take }: StreamRules): StreamReader {
  const shown: Shown = { content: false, terminal: false, usage: NO_USAGE, model: null, tier: null };
  let errorSeen = false;
  // A search instead of a parse: inside a JSON string these quotes would be escaped, so it misses nothing.
  const tells = (data: Uint8Array) => holds(data, '"error"') || telling.some((text) => holds(data, text));
  return {
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
