import { ERRORS } from "../errors.ts";
import type { Reading, StreamReader } from "../reading.ts";
import { billsMore, messagesTier, messagesUsage, overlay } from "./messages-usage.ts";
import { nameOf, objectOf, type Told, toldIn } from "./provider-json.ts";
import { readingOf } from "./reading-of.ts";
import { holds, needle, searchFor, seekIn } from "./telling-text.ts";
import type { Wire } from "./wires.ts";

/** Anthropic's messages. */
export const MESSAGES_WIRE: Wire = {
  readAnswer(bytes) {
    const told = toldIn(bytes);
    return messagesReading({ usage: objectOf(told?.["usage"]), model: nameOf(told?.["model"]), final: true });
  },
  openStream: messagesStream,
  mayBeUsageOnly: () => false,
  errorBody: (type, message, { requestId, details }) =>
    JSON.stringify({
      type: "error",
      error: { type: ERRORS[type].anthropic, message, ...(details ? { details } : {}) },
      request_id: requestId,
    }),
  requestIdHeader: "request-id",
};

function messagesStream(): StreamReader {
  let contentSeen = false;
  let terminalSeen = false;
  let errorSeen = false;
  let usage: Told | null = null;
  let model: string | null = null;
  let deltaSeen = false;
  let stopped = false;

  const take: Record<string, (event: Told) => void> = {
    message_start(event) {
      const message = objectOf(event["message"]);
      model = nameOf(message?.["model"]);
      usage = objectOf(message?.["usage"]);
    },
    content_block_start(event) {
      contentSeen ||= isContent(objectOf(event["content_block"]));
    },
    content_block_delta(event) {
      contentSeen ||= isContent(objectOf(event["delta"]));
    },
    message_delta(event) {
      const later = objectOf(event["usage"]);
      // Cumulative: it replaces what `message_start` said, field by field, and is never added to it.
      if (later) usage = usage ? overlay(usage, later) : later;
      deltaSeen ||= later !== null;
      stopped ||= typeof objectOf(event["delta"])?.["stop_reason"] === "string";
    },
    message_stop() {
      terminalSeen = true;
    },
    error() {
      errorSeen = true;
    },
  };

  return {
    seek(chunk) {
      const next = seekIn(chunk, SEARCHES);
      return (from) => (contentSeen ? next(from) : from);
    },
    event(data) {
      if (contentSeen && !tellsMore(data)) return false;
      const event = toldIn(data);
      const type = event?.["type"];
      if (event && typeof type === "string" && Object.hasOwn(take, type)) take[type]?.(event);
      return false;
    },
    get contentSeen() {
      return contentSeen;
    },
    get terminalSeen() {
      return terminalSeen;
    },
    get errorSeen() {
      return errorSeen;
    },
    // The output that `message_start` tells is provisional: without a `message_delta` the figure is a part.
    reading: (complete) => messagesReading({ usage, model, final: deltaSeen && (complete || stopped) }),
  };
}

const messagesReading = (seen: { usage: Told | null; model: string | null; final: boolean }): Reading =>
  readingOf({
    usage: seen.usage && messagesUsage(seen.usage),
    model: seen.model,
    tier: seen.usage && messagesTier(seen.usage),
    final: seen.final && !(seen.usage && billsMore(seen.usage)),
  });

const TELLING = ['"message_', '"error"'].map(needle);
const SEARCHES = TELLING.map(searchFor);

/** A search instead of a parse: as vendors spell these names; inside a JSON string the quotes would be escaped. */
const tellsMore = (data: Uint8Array): boolean => TELLING.some((text) => holds(data, text));

/** Block types that are content by being there: their names are not streamed piece by piece. */
const WHOLE_BLOCKS = new Set(["text", "thinking"]);

/** A block or delta with something in it. A text or thinking block begins empty; any other kind says something at once. */
function isContent(part: Told | null): boolean {
  if (!part) return false;
  const texts = [part["text"], part["thinking"], part["partial_json"], part["signature"]];
  if (texts.some((text) => typeof text === "string" && text.length > 0)) return true;
  return (
    typeof part["type"] === "string" && !part["type"].endsWith("_delta") && !WHOLE_BLOCKS.has(part["type"])
  );
}
