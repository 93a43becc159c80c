import type { Clock } from "#shared/clock.ts";
import { clientHeaders } from "../http/headers.ts";
import { compressedMeter, decodedCopy } from "../metering/compressed.ts";
import { type Meter, opaqueMeter, streamMeter } from "../metering/meter.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import type { Wire } from "../providers/wire.ts";
import type { Reading } from "../reading.ts";
import type { SurfaceName } from "../surface-facts.ts";
import type { DrainPool } from "./drain.ts";
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
  /** What the provider answers in. */
  wire: Wire;
  surface: SurfaceName;
  attempt: Answered;
  /** The client's own signal: aborted when it left. */
  signal: AbortSignal;
  withholdUsage: boolean;
  drainWhenGone: boolean;
  onContent(): void;
  settle(ending: Ending, reading: Reading): Promise<void>;
};

/**
 * The provider's answer as the client gets it: its status, its bytes, the headers of the allow-list; where the call was
 * translated, the answer in the client's own format instead of the bytes. A stream is
 * passed on as it comes; anything else is read first, because its record must be safe before its last byte leaves.
 * Null when the provider broke off before a whole answer was there.
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
    ? translatedAnswerHeaders(providerHeaders, story.surface, "text/event-stream; charset=utf-8")
    : clientHeaders(providerHeaders);
  const opaque = !isEventStream(story.attempt);
  const relayed = relayStream({
    body,
    framed: isFramed(story.attempt),
    endsWithBody: opaque || story.wire.endsWithBody === true,
    meter: opaque
      ? opaqueMeter(readingOf(story, NOTHING))
      : meterOf(story, providerHeaders.get("content-encoding")),
    clock: deps.clock,
    watchdog: deps.watchdog,
    // There is nothing to learn from the rest of bytes that nobody reads.
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
  const bytes = await wholeBody(deps, story.attempt).catch(() => null);
  const encoding = translation ? null : providerHeaders.get("content-encoding");
  const plain = bytes && decodedCopy(bytes, encoding);
  const reading = readingOf(story, plain ?? NOTHING);
  const passed =
    bytes && (translation ? translatedBody(translation, story.attempt, { bytes, reading }) : bytes);
  if (!passed || isCutShort(story.attempt, plain)) {
    await story.settle("upstream_broken", reading);
    return null;
  }
  await story.settle(story.signal.aborted ? "client_gone" : "complete", reading);
  const headers = translation
    ? translatedAnswerHeaders(providerHeaders, story.surface, "application/json")
    : clientHeaders(providerHeaders);
  return new Response(passed.byteLength > 0 ? passed : null, { status: answer.status, headers });
}

type Told = { bytes: Uint8Array; reading: Reading };

/** Null when a success is no answer of the provider's format. */
function translatedBody(
  translation: Translation,
  { answer, headers }: Answered,
  { bytes, reading }: Told,
): Uint8Array<ArrayBuffer> | null {
  return answer.ok
    ? translation.answer(bytes, reading.usage)
    : translation.refusal(bytes, { status: answer.status, requestId: providerRequestId(headers) });
}

/** Whether the answer says by itself where it ends. Without that it ends where its connection does, cut short or not. */
const isFramed = ({ headers }: Answered): boolean =>
  headers.has("content-length") || headers.has("transfer-encoding");

/** JSON without framing, which only its own grammar can tell to be whole. */
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
