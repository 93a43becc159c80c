import type { Clock } from "#shared/clock.ts";
import type { BodyMemory } from "../call.ts";
import { type FailureCause, GatewayError } from "../errors.ts";
import { clientHeaders, type HeaderTable } from "../http/headers.ts";
import { compressedMeter } from "../metering/compressed.ts";
import { type Meter, opaqueMeter, streamMeter } from "../metering/meter.ts";
import { plainMeter } from "../metering/plain-meter.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import type { Wire } from "../providers/wire.ts";
import type { Reading } from "../reading.ts";
import type { SurfaceName } from "../surface-facts.ts";
import { CALL_ID_HEADER, type OwnHeaders } from "./answer-headers.ts";
import { type AnsweredAttempt, encodingOf, isEventAnswer, isFramed, isJsonAnswer } from "./attempt.ts";
import type { DrainPool } from "./drain.ts";
import { failureCauseOf } from "./failures.ts";
import { framesMeter } from "./hosted/bedrock-answer.ts";
import type { Patience } from "./patience.ts";
import { type Ending, relayStream, type StreamRelay } from "./relay.ts";
import { translatedAnswerHeaders, translatingMeter } from "./translation.ts";
import type { Watchdog } from "./watchdog.ts";
import { wholeAnswer } from "./whole-answer.ts";
import { type AnswerPart, partsOf, type Read, readUpTo, SHORT_BYTES_MAX } from "./whole-body.ts";

export type AnswerDeps = {
  clock: Clock;
  watchdog: Watchdog;
  drains: DrainPool;
  patience: Patience;
};

export type AnswerStory = {
  /** The format of the provider's answer. */
  wire: Wire;
  surface: SurfaceName;
  attempt: AnsweredAttempt;
  memory: BodyMemory | undefined;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** Closes the connection of a client that reads nothing. */
  closeConnection: (() => void) | undefined;
  withholdUsage: boolean;
  drainWhenGone: boolean;
  own: OwnHeaders;
  /** The gateway's own limit headers, for a caller who gets no provider's; null: the provider's. */
  limitHeaders: HeaderTable | null;
  onContent(): void;
  settle(ending: Ending, reading: Reading, cause: FailureCause | null): Promise<void>;
};

/** A translation needs the whole answer; a longer one is given up. */
const TRANSLATED_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Relays the provider's answer: its status, its bytes and the allowed headers, or for a translated call the translated
 * answer. It is passed on as it arrives; a short one, and one that is translated, is read completely first. Null if
 * the provider broke off before such an answer was complete.
 * @throws GatewayError bodies_too_many if no memory is left for an answer to translate.
 */
export function relayAnswer(deps: AnswerDeps, story: AnswerStory): Response | Promise<Response | null> {
  const { attempt, wire, own } = story;
  // Sound is sent as it comes, unless its cost is to be told before.
  const isStream = isEventAnswer(attempt) || (wire.opaque && !own.cost) || isFrames(story);
  // Asking for `body` makes a stream, through which an answer is then read whole as well.
  const body = isStream && attempt.answer.ok ? attempt.answer.body : null;
  if (!body) return plain(deps, story);
  const reader = body.getReader();
  return relayed(deps, story, { read: () => reader.read(), ...meteringOf(story) });
}

type Metering = Pick<StreamRelay, "meter" | "endsWithBody" | "noLastEvent" | "ping"> & { drainable: boolean };

/** How a stream of events, or an answer that is not read, is metered. */
function meteringOf(story: AnswerStory): Metering {
  const { wire, attempt } = story;
  if (isFrames(story)) {
    const reader = wire.openStream(PROVIDERS[attempt.target.provider.kind]);
    return { meter: framesMeter(reader), endsWithBody: true, drainable: true };
  }
  if (!isEventAnswer(attempt)) {
    // The rest of an unmetered answer would tell us nothing.
    return { meter: opaqueMeter(readingOf(story)(NOTHING)), endsWithBody: true, drainable: false };
  }
  return {
    meter: streamMeterOf(story),
    endsWithBody: wire.endsWithBody === true,
    noLastEvent: wire.noLastEvent === true,
    drainable: true,
    ...(attempt.translation && { ping: PINGS[story.surface] ?? COMMENT }),
  };
}

const isFrames = ({ wire, attempt }: AnswerStory): boolean =>
  wire.awsFrames === true &&
  attempt.headers.get("content-type")?.startsWith("application/vnd.amazon.eventstream") === true;

const encoder = new TextEncoder();
const COMMENT = encoder.encode(": ping\n\n");
/** The messages format has an event for it, and Google's clients take a comment for half an event. */
const PINGS: Readonly<Partial<Record<SurfaceName, Uint8Array>>> = {
  messages: encoder.encode('event: ping\ndata: {"type":"ping"}\n\n'),
  generate_content: encoder.encode("\n"),
};

function streamMeterOf(story: AnswerStory): Meter {
  const { target, translation } = story.attempt;
  const facts = PROVIDERS[target.provider.kind];
  if (translation) {
    return translatingMeter(streamMeter(story.wire, facts, { withholdUsage: false }), translation);
  }
  const encoding = encodingOf(story.attempt);
  const meter = streamMeter(story.wire, facts, { withholdUsage: story.withholdUsage && encoding === null });
  return encoding === null ? meter : compressedMeter(meter, encoding);
}

const NOTHING = new Uint8Array();

const readingOf =
  ({ wire, attempt }: AnswerStory) =>
  (bytes: Uint8Array): Reading =>
    wire.readAnswer(bytes, PROVIDERS[attempt.target.provider.kind], attempt.headers);

function relayed(
  { clock, watchdog, patience, drains }: AnswerDeps,
  story: AnswerStory,
  { drainable, ...metering }: Metering & Pick<StreamRelay, "read">,
): Response {
  const { answer, target, abort } = story.attempt;
  const body = relayStream({
    ...metering,
    framed: isFramed(story.attempt),
    clock,
    watchdog,
    patience,
    idleMs: target.provider.idleMs,
    drains: story.drainWhenGone && drainable ? drains.of(target.provider.name) : null,
    abort,
    closeConnection: story.closeConnection,
    onContent: story.onContent,
    settle: story.settle,
  });
  return new Response(body, { status: answer.status, headers: headersOf(story) });
}

function headersOf(story: AnswerStory): HeaderTable {
  const { attempt, limitHeaders, own } = story;
  const headers = providersHeaders(story);
  headers[CALL_ID_HEADER] = own.id;
  if (limitHeaders === null) return headers;
  const others = Object.entries(headers).filter(([name]) => !name.startsWith("anthropic-ratelimit-"));
  return { ...Object.fromEntries(others), ...(attempt.answer.ok && limitHeaders) };
}

function providersHeaders({ attempt, surface }: AnswerStory): HeaderTable {
  const { headers, translation } = attempt;
  if (!translation) return clientHeaders(headers);
  const type = isEventAnswer(attempt) ? "text/event-stream; charset=utf-8" : "application/json";
  return translatedAnswerHeaders(headers, { surface, translation }, type);
}

async function plain(deps: AnswerDeps, story: AnswerStory): Promise<Response | null> {
  const read = await beginningOf(deps, story).catch((error) => ({ error }));
  if ("error" in read) return await broken(story, read.error);
  if (read.longer) return await long(deps, story, read.longer);
  const answered = { answered: story.attempt, readAnswer: readingOf(story) };
  const { reading, forwarded, cause, ...told } = wholeAnswer(answered, read.whole);
  if (!forwarded) {
    await story.settle("upstream_broken", reading, cause);
    return null;
  }
  const { cost } = story.own;
  if (forwarded.byteLength > SHORT_BYTES_MAX && !cost) {
    // Translated. Its memory is in use until the client has read it.
    const meter = plainMeter(() => reading, null);
    return relayed(deps, story, { read: partsOf(forwarded), meter, endsWithBody: true, drainable: false });
  }
  await story.settle(story.signal.aborted ? "client_gone" : "complete", reading, null);
  return new Response(forwarded.byteLength > 0 ? forwarded : null, {
    status: "status" in told ? told.status : story.attempt.answer.status,
    headers: cost ? { ...headersOf(story), ...cost() } : headersOf(story),
  });
}

/** An answer to translate, or whose cost is told before it, takes memory like a request; the beginning of any other is only counted. */
function beginningOf(deps: AnswerDeps, { attempt, memory, own }: AnswerStory): Promise<Read> {
  const limits =
    attempt.translation || own.cost
      ? { bytesMax: TRANSLATED_BYTES_MAX, take: memory?.take }
      : { bytesMax: SHORT_BYTES_MAX, take: memory?.add };
  return readUpTo(deps, attempt, limits);
}

async function broken(story: AnswerStory, error: unknown): Promise<null> {
  const refused = error instanceof GatewayError && error.type === "bodies_too_many";
  if (refused) story.attempt.abort();
  const cause = refused ? "no_memory" : failureCauseOf(error);
  await story.settle("upstream_broken", readingOf(story)(NOTHING), cause);
  if (refused) throw error;
  return null;
}

/** Passes a long answer on as it arrives. */
async function long(
  deps: AnswerDeps,
  story: AnswerStory,
  read: () => Promise<AnswerPart>,
): Promise<Response | null> {
  const { attempt } = story;
  if (attempt.translation) {
    attempt.abort();
    await story.settle("upstream_broken", readingOf(story)(NOTHING), "bad_answer");
    return null;
  }
  return relayed(deps, story, {
    read,
    meter: plainMeter(readingOf(story), encodingOf(attempt)),
    // Unframed JSON is complete only if its end has come.
    endsWithBody: isFramed(attempt) || !isJsonAnswer(attempt),
    noLastEvent: true,
    drainable: true,
  });
}
