import { NO_USAGE } from "#shared/usage.ts";
import { ERRORS } from "../errors.ts";
import { googleStatus } from "../google-format.ts";
import type { Reading, StreamReader } from "../reading.ts";
import { includesBytes, needle } from "./byte-search.ts";
import {
  geminiTier,
  geminiUsage,
  groundedSearches,
  hasUnknownModality,
  isGroundedOtherwise,
} from "./gemini-usage.ts";
import { listOf, nameOf, objectOf, type ProviderObject, parseObject } from "./provider-json.ts";
import { GEMINI_MEMBERS, hasUnknown } from "./usage-members.ts";
import { readingOf, type Wire } from "./wire.ts";

const googleErrors: Pick<Wire, "errorBody" | "requestIdHeader"> = {
  errorBody: (type, message, { requestId }) => {
    const { status } = ERRORS[type];
    return JSON.stringify({
      error: {
        code: status,
        message,
        status: googleStatus(status),
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            reason: type.toUpperCase(),
            domain: "tallygate",
          },
          { "@type": "type.googleapis.com/google.rpc.RequestInfo", requestId },
        ],
      },
    });
  },
  requestIdHeader: "x-request-id",
};

/** Google's generateContent. Its streams have no last event: they end with the body, after a `finishReason`. */
export const GEMINI_WIRE: Wire = {
  ...googleErrors,
  readAnswer(bytes) {
    const seen = nothingSeen();
    take(seen, parseObject(bytes) ?? {});
    return geminiReading(seen, true);
  },
  openStream: geminiStream,
  mayBeUsageOnly: () => false,
  noLastEvent: true,
};

/** Google's embedContent and batchEmbedContents, which older models answer without usage. */
export const GEMINI_EMBEDDINGS_WIRE: Wire = {
  ...GEMINI_WIRE,
  readAnswer(bytes) {
    const answer = parseObject(bytes) ?? {};
    const metadata = objectOf(answer["usageMetadata"]);
    const { uncachedInputTokens: input } = metadata ? geminiUsage(metadata) : NO_USAGE;
    return readingOf({
      usage: { ...NO_USAGE, uncachedInputTokens: input, outputTokens: input === null ? null : 0 },
      model: null,
      tier: null,
      final: true,
    });
  },
};

type Seen = {
  metadata: ProviderObject | null;
  model: string | null;
  id: string | null;
  searches: number | null;
  groundedOtherwise: boolean;
  /** The status of an error that came inside an answer with a good one. */
  failure: string | undefined;
  /** Every answer has ended, or the prompt was refused. */
  finished: boolean;
};

const nothingSeen = (): Seen => ({
  metadata: null,
  model: null,
  id: null,
  searches: null,
  groundedOtherwise: false,
  failure: undefined,
  finished: false,
});

function take(seen: Seen, chunk: ProviderObject): void {
  seen.metadata = objectOf(chunk["usageMetadata"]) ?? seen.metadata;
  seen.model = nameOf(chunk["modelVersion"]) ?? seen.model;
  seen.id ??= nameOf(chunk["responseId"]);
  const searches = groundedSearches(chunk);
  seen.groundedOtherwise ||= isGroundedOtherwise(chunk);
  if (searches !== null) seen.searches = Math.max(searches, seen.searches ?? 0);
  seen.failure ??= nameOf(objectOf(chunk["error"])?.["status"]) ?? undefined;
  const candidates = listOf(chunk["candidates"]).map(objectOf);
  seen.finished ||=
    candidates.some((one) => typeof one?.["finishReason"] === "string") ||
    typeof objectOf(chunk["promptFeedback"])?.["blockReason"] === "string";
}

const geminiReading = (
  { metadata, model, id, searches, groundedOtherwise, failure }: Seen,
  final: boolean,
): Reading => ({
  ...readingOf({
    usage: metadata && { ...geminiUsage(metadata), webSearches: searches },
    model,
    tier: metadata && geminiTier(metadata),
    final,
    failure,
    billsMore: groundedOtherwise || hasUnknown(metadata, GEMINI_MEMBERS) || hasUnknownModality(metadata),
  }),
  answerId: id,
});

const FINISH = needle('"finishReason"');
const BLOCKED = needle('"blockReason"');
const GROUNDED = needle('"groundingMetadata"');
const ERROR = needle('"error"');
const USAGE = needle('"usageMetadata"');

function geminiStream(): StreamReader {
  const progress = { contentSeen: false, terminalSeen: false, allSeen: false };
  const seen = nothingSeen();
  /** Every chunk has running counts, of which only the last matter: the event is kept and parsed if it stays the last. */
  let latest: Uint8Array | null = null;

  const read = (data: Uint8Array) => {
    latest = null;
    const chunk = parseObject(data);
    if (!chunk) return;
    take(seen, chunk);
    progress.contentSeen ||= hasContent(chunk);
    progress.allSeen = seen.finished;
  };

  return {
    event(data) {
      const decides = [FINISH, BLOCKED, GROUNDED, ERROR].some((text) => includesBytes(data, text));
      if (!progress.contentSeen || decides) read(data);
      else if (includesBytes(data, USAGE)) latest = new Uint8Array(data);
      return false;
    },
    progress,
    reading(complete) {
      if (latest) read(latest);
      return geminiReading(seen, complete || seen.finished);
    },
  };
}

/** Whether a chunk has a part that is not an empty text. */
function hasContent(chunk: ProviderObject): boolean {
  const parts = listOf(chunk["candidates"]).flatMap((one) =>
    listOf(objectOf(objectOf(one)?.["content"])?.["parts"]),
  );
  return parts.map(objectOf).some((part) => part !== null && part["text"] !== "");
}
