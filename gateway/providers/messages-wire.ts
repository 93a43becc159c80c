import { ERRORS } from "../errors.ts";
import type { Reading, StreamReader } from "../reading.ts";
import { includesBytes, needle } from "./byte-search.ts";
import {
  billsMore,
  isBilledBlock,
  messagesTier,
  messagesUsage,
  overlay,
  takenOverBy,
} from "./messages-usage.ts";
import { failureIn, listOf, nameOf, objectOf, type ProviderObject, parseObject } from "./provider-json.ts";
import { readingOf, type Wire } from "./wire.ts";

/** Anthropic's messages. */
export const MESSAGES_WIRE: Wire = {
  readAnswer(bytes) {
    const answer = parseObject(bytes);
    return messagesReading({
      usage: objectOf(answer?.["usage"]),
      model: nameOf(answer?.["model"]),
      container: nameOf(objectOf(answer?.["container"])?.["id"]),
      final: true,
      billedTool: hasContainer(answer) || listOf(answer?.["content"]).map(objectOf).some(isBilledBlock),
    });
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
  const progress = { contentSeen: false, terminalSeen: false };
  let usage: ProviderObject | null = null;
  let model: string | null = null;
  let container: string | null = null;
  let deltaSeen = false;
  let stopped = false;
  let failure: string | undefined;
  let billedTool = false;

  const handlers: Record<string, (event: ProviderObject) => void> = {
    message_start(event) {
      const message = objectOf(event["message"]);
      model = nameOf(message?.["model"]);
      usage = objectOf(message?.["usage"]);
      billedTool ||= hasContainer(message);
      container = nameOf(objectOf(message?.["container"])?.["id"]);
    },
    content_block_start(event) {
      billedTool ||= isBilledBlock(objectOf(event["content_block"]));
      progress.contentSeen ||= isContent(objectOf(event["content_block"]));
    },
    content_block_delta(event) {
      progress.contentSeen ||= isContent(objectOf(event["delta"]));
    },
    message_delta(event) {
      const later = objectOf(event["usage"]);
      // Cumulative: it replaces the figures of `message_start`, field by field.
      if (later) usage = usage ? overlay(usage, later) : later;
      deltaSeen ||= later !== null;
      const delta = objectOf(event["delta"]);
      billedTool ||= hasContainer(delta);
      container = nameOf(objectOf(delta?.["container"])?.["id"]) ?? container;
      stopped ||= typeof delta?.["stop_reason"] === "string";
    },
    message_stop() {
      progress.terminalSeen = true;
    },
    error(event) {
      failure = failureIn(event) ?? "error";
    },
  };

  return {
    event(data) {
      if (progress.contentSeen && !READ_ALWAYS.some((text) => includesBytes(data, text))) return false;
      const event = parseObject(data);
      const type = event?.["type"];
      if (event && typeof type === "string" && Object.hasOwn(handlers, type)) handlers[type]?.(event);
      return false;
    },
    progress,
    // The output in `message_start` is provisional: without a `message_delta` the figure is partial.
    reading(complete) {
      const final = deltaSeen && (complete || stopped);
      return messagesReading({ usage, model, container, final, billedTool, failure });
    },
  };
}

const messagesReading = (seen: {
  usage: ProviderObject | null;
  model: string | null;
  container: string | null;
  final: boolean;
  failure?: string | undefined;
  /** A tool ran that is billed by a figure that no answer reports. */
  billedTool: boolean;
}): Reading =>
  readingOf({
    usage: seen.usage && messagesUsage(seen.usage),
    model: (seen.usage && takenOverBy(seen.usage)) ?? seen.model,
    tier: seen.usage && messagesTier(seen.usage),
    keptId: seen.container,
    final: seen.final,
    billsMore: seen.billedTool || (seen.usage !== null && billsMore(seen.usage)),
    failure: seen.failure,
  });

/** Code ran in a container of Anthropic's, which is billed by time. */
const hasContainer = (message: ProviderObject | null): boolean => objectOf(message?.["container"]) !== null;

/** Searched for instead of parsing: inside a JSON string the quotes would be escaped. */
const READ_ALWAYS = [needle('"message_'), needle('"server_tool_use"'), needle('"error"')];

/** Block types that begin empty and are streamed piece by piece. */
const WHOLE_BLOCKS = new Set(["text", "thinking"]);

/** Whether a block or delta has content. Text and thinking blocks begin empty; any other kind is content at once. */
function isContent(part: ProviderObject | null): boolean {
  if (!part) return false;
  const texts = [part["text"], part["thinking"], part["partial_json"], part["signature"]];
  if (texts.some((text) => typeof text === "string" && text.length > 0)) return true;
  return (
    typeof part["type"] === "string" && !part["type"].endsWith("_delta") && !WHOLE_BLOCKS.has(part["type"])
  );
}
