import type { Clock } from "#shared/clock.ts";
import type { FailureCause } from "../errors.ts";
import { clientHeaders } from "../http/headers.ts";
import { compressedMeter, decodedCopy } from "../metering/compressed.ts";
import { type Meter, opaqueMeter, streamMeter } from "../metering/meter.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import type { Wire } from "../providers/wire.ts";
import type { Reading } from "../reading.ts";
import type { SurfaceName } from "../surface-facts.ts";
import type { DrainPool } from "./drain.ts";
import { failureCauseOf } from "./failures.ts";
import type { Attempt } from "./forward.ts";
import { type Ending, relayStream } from "./relay.ts";
import {
  providerRequestId,
  type Translation,
  translatedAnswerHeaders,
  translatingMeter,
} from "./translation.ts";
import type { Watchdog } from "./watchdog.ts";
import { wholeBody } from "./whole-body.ts";

export type AnswerDeps = { clock: Clock; watchdog: Watchdog; drains: DrainPool };

type Answered = Extract<Attempt, { kind: "answer" }>;

export type AnswerStory = {
  /** The format of the provider's answer. */
  wire: Wire;
  surface: SurfaceName;
  attempt: Answered;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  withholdUsage: boolean;
  drainWhenGone: boolean;
  onContent(): void;
  settle(ending: Ending, reading: Reading, cause: FailureCause | null): Promise<void>;
};

/**
 * Relays the provider's answer: its status, its bytes and the allowed headers, or for a translated call the translated
 * answer. Streams are passed on as they arrive; anything else is read completely first, because its record must be
 * durable before its last byte is sent. Null if the provider broke off before the answer was complete.
 */
export function relayAnswer(deps: AnswerDeps, story: AnswerStory): Response | Promise<Response | null> {
  const { answer } = story.attempt;
  const streaming = isEventStream(story.attempt) || story.wire.opaque === true;
  return streaming && answer.body && answer.ok
    ? streamed(deps, story, answer.body)
    : whole(deps, story, answer);
}

const isEventStream = ({ headers }: Answered): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") ?? false;

function streamed(deps: AnswerDeps, story: AnswerStory, body: ReadableStream<Uint8Array>): Response {
  const { answer, headers: providerHeaders, abort, translation } = story.attempt;
  const headers = translation
    ? translatedAnswerHeaders(providerHeaders, { ...story, translation }, "text/event-stream; charset=utf-8")
    : clientHeaders(providerHeaders);
  const opaque = !isEventStream(story.attempt);
  const relayed = relayStream({
    body,
    framed: isFramed(story.attempt),
    endsWithBody: opaque || story.wire.endsWithBody === true,
    noLastEvent: story.wire.noLastEvent === true,
    meter: opaque
      ? opaqueMeter(readingOf(story, NOTHING))
      : meterOf(story, providerHeaders.get("content-encoding")),
    clock: deps.clock,
    watchdog: deps.watchdog,
    idleMs: story.attempt.target.provider.idleMs,
    // The rest of an unmetered answer would tell us nothing.
    drains: story.drainWhenGone && !opaque ? deps.drains : null,
    abort,
    onContent: story.onContent,
    settle: story.settle,
  });
  return new Response(relayed, { status: answer.status, headers });
}

const NOTHING = new Uint8Array();

const readingOf = ({ wire, attempt }: AnswerStory, bytes: Uint8Array): Reading =>
  wire.readAnswer(bytes, PROVIDERS[attempt.target.provider.kind]);

function meterOf(story: AnswerStory, encoding: string | null): Meter {
  const { target, translation } = story.attempt;
  const facts = PROVIDERS[target.provider.kind];
  if (translation) {
    return translatingMeter(streamMeter(story.wire, facts, { withholdUsage: false }), translation);
  }
  const compressed = encoding !== null && encoding !== "identity";
  const meter = streamMeter(story.wire, facts, { withholdUsage: story.withholdUsage && !compressed });
  return compressed ? compressedMeter(meter, encoding) : meter;
}

async function whole(deps: AnswerDeps, story: AnswerStory, answer: Response): Promise<Response | null> {
  const { headers: providerHeaders, translation } = story.attempt;
  let cause: FailureCause = "cut";
  const bytes = await wholeBody(deps, story.attempt).catch((error) => {
    cause = failureCauseOf(error);
    return null;
  });
  const encoding = translation ? null : providerHeaders.get("content-encoding");
  const plain = bytes && decodedCopy(bytes, encoding);
  const reading = readingOf(story, plain ?? NOTHING);
  const forwarded =
    bytes && (translation ? translatedBody(translation, story.attempt, { bytes, reading }) : bytes);
  if (!forwarded || isCutShort(story.attempt, plain)) {
    await story.settle("upstream_broken", reading, bytes && !forwarded ? "bad_answer" : cause);
    return null;
  }
  await story.settle(story.signal.aborted ? "client_gone" : "complete", reading, null);
  const headers = translation
    ? translatedAnswerHeaders(providerHeaders, { ...story, translation }, "application/json")
    : clientHeaders(providerHeaders);
  return new Response(forwarded.byteLength > 0 ? forwarded : null, { status: answer.status, headers });
}

type MeteredBody = { bytes: Uint8Array; reading: Reading };

/** Null if a successful answer is not in the provider's format. */
function translatedBody(
  translation: Translation,
  { answer, headers }: Answered,
  { bytes, reading }: MeteredBody,
): Uint8Array<ArrayBuffer> | null {
  return answer.ok
    ? translation.answer(bytes, reading.usage)
    : translation.refusal(bytes, { status: answer.status, requestId: providerRequestId(headers) });
}

/** Whether the answer is framed. If not, it ends with its connection, and a cut-off answer looks complete. */
const isFramed = ({ headers }: Answered): boolean =>
  headers.has("content-length") || headers.has("transfer-encoding");

/** Unframed JSON is complete only if it parses. */
function isCutShort(answered: Answered, plain: Uint8Array | null): boolean {
  if (plain === null || isFramed(answered) || !isJson(answered)) return false;
  try {
    JSON.parse(new TextDecoder().decode(plain));
    return false;
  } catch {
    return true;
  }
}

const isJson = ({ headers }: Answered): boolean =>
  /^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get("content-type") ?? "");
