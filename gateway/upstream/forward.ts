import type { Clock } from "#shared/clock.ts";
import type { Call, Choice, HeaderView, Target } from "../call.ts";
import type { ErrorType } from "../errors.ts";
import { cachedHeaders, type HeaderTable, upstreamHeaders } from "../http/headers.ts";
import { asksForUsage, splice } from "../http/splice.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { credentialHeader, upstreamUrl } from "../providers/endpoint.ts";
import type { WireName } from "../surface-facts.ts";
import { SURFACES, surfaceFacts } from "../surface-facts.ts";
import { failureOf } from "./failures.ts";
import type { Send } from "./send.ts";
import { type Translation, translatedHeaders, translationOf } from "./translation.ts";
import type { Watchdog } from "./watchdog.ts";

/** Deadline for connecting to a provider, TLS handshake included. */
const CONNECT_MS = 5000;
/** Deadline for the first byte of an answer: long, because reasoning models may take minutes. */
const FIRST_BYTE_MS = 600_000;

/** Statuses after which the next target is tried (decision: Fallbacks only before the first byte). */
const FALLBACK_STATUSES = new Set([429, 502, 503, 504, 529]);

/** Failures after which another target may be tried, if the request was not sent. */
const FALLBACK_FAILURES = new Set<ErrorType>(["upstream_unreachable", "provider_unconfigured"]);

export type UpstreamDeps = {
  clock: Clock;
  watchdog: Watchdog;
  send: Send;
};

export type Attempt =
  | {
      kind: "answer";
      answer: Response;
      /** Its headers, read once. */
      headers: HeaderView;
      target: Target;
      attempts: number;
      /** The gateway requested the usage chunk; the client did not. */
      usageRequested: boolean;
      /** Translates the answer back; null if the call was not translated. */
      translation: Translation | null;
      abort(): void;
    }
  | {
      kind: "failed";
      type: ErrorType;
      target: Target;
      attempts: number;
      cause: unknown;
      /** The provider may have got the request. */
      sent: boolean;
      /** Aborted because the client disconnected. */
      left: boolean;
    };

/**
 * Sends the call to its targets in turn until one answers. The next target is tried only while no byte of an answer has
 * reached the client: after a connection failure or a status in `FALLBACK_STATUSES`. A request that the provider may
 * have received is never retried, because it may already be billed.
 */
export function forward(deps: UpstreamDeps, choice: Choice, call: Call): Promise<Attempt> {
  return choice.targets.length === 1
    ? attemptOne(deps, { call, choice, target: choice.targets[0], attempts: 1 })
    : forwardInTurn(deps, choice, call);
}

async function forwardInTurn(deps: UpstreamDeps, choice: Choice, call: Call): Promise<Attempt> {
  const last = choice.targets.length - 1;
  for (const [index, target] of choice.targets.entries()) {
    const attempt = await attemptOne(deps, { call, choice, target, attempts: index + 1 });
    if (index === last || !mayTryNext(attempt, call)) return attempt;
    // An unread body keeps its socket open until it is garbage collected.
    if (attempt.kind === "answer") await attempt.answer.body?.cancel();
  }
  throw new RangeError("a choice has at least one target");
}

/** Images and speech are expensive to repeat, and a provider that got the request may have started. */
function mayTryNext(attempt: Attempt, { surface, signal }: Call): boolean {
  if (signal.aborted) return false;
  return attempt.kind === "answer"
    ? !surfaceFacts(surface).sentOnce && FALLBACK_STATUSES.has(attempt.answer.status)
    : !attempt.sent && FALLBACK_FAILURES.has(attempt.type);
}

type Try = { call: Call; choice: Choice; target: Target; attempts: number };

async function attemptOne(deps: UpstreamDeps, it: Try): Promise<Attempt> {
  const { call, choice, target, attempts } = it;
  if (!isConfigured(target, choice)) {
    return { target, attempts, ...UNSENT, type: "provider_unconfigured", cause: null };
  }
  const deadline = new AbortController();
  const abort = () => deadline.abort();
  const watched = { deadlineMs: deps.clock.monotonicMs() + CONNECT_MS, expire: abort };
  let sent = false;
  const onSent = () => {
    sent = true;
    watched.deadlineMs = deps.clock.monotonicMs() + FIRST_BYTE_MS;
  };
  const usageRequested = asksUpstreamForUsage(call, target);
  call.upload?.onAbort(abort);
  deps.watchdog.watch(watched);
  try {
    const translation = translationOf(call, { target, route: choice.route }, deps.clock);
    const surface = translation?.surface ?? call.surface;
    const answer = await deps.send({
      target: target,
      surface,
      url: upstreamUrl(target.provider, surface),
      headers: headersFor(call, choice, target),
      body: translation?.body ?? splice(call.body, { ...modelOf(target), askForUsage: usageRequested }),
      upload: call.upload,
      signal: leaveSignal(call, choice, deadline.signal),
      decode: translation !== null,
      onSent,
    });
    if (answer.status >= 300 && answer.status < 400) {
      await answer.body?.cancel();
      return { target, attempts, ...UNSENT, sent, type: "upstream_unreachable", cause: null };
    }
    return {
      kind: "answer",
      answer,
      headers: cachedHeaders(answer.headers),
      target,
      attempts,
      usageRequested,
      translation,
      abort,
    };
  } catch (cause) {
    return failedAttempt(it, { cause, sent, late: deadline.signal.aborted });
  } finally {
    deps.watchdog.release(watched);
  }
}

type Failure = { cause: unknown; sent: boolean; late: boolean };

function failedAttempt({ call, choice, target, attempts }: Try, { cause, sent, late }: Failure): Attempt {
  const fault = call.upload?.fault();
  // The provider never got the complete upload, so it can neither answer nor bill it.
  if (fault)
    return { target, attempts, ...UNSENT, type: fault.type, cause: fault, left: call.signal.aborted };
  const left = !late && call.signal.aborted && leavesWithClient(choice);
  const type = sent && late ? "upstream_timeout" : failureOf(cause, sent);
  return {
    kind: "failed",
    target,
    attempts,
    type,
    cause,
    sent: sent && type !== "upstream_unreachable",
    left,
  };
}

const UNSENT = { kind: "failed", sent: false, left: false } as const;

const modelOf = ({ model }: Target): { model?: string } => (model === null ? {} : { model });

/** By default a client that disconnects does not abort the provider, which bills anyway. */
function leaveSignal(call: Call, choice: Choice, deadline: AbortSignal): AbortSignal {
  return leavesWithClient(choice) ? AbortSignal.any([deadline, call.signal]) : deadline;
}

const leavesWithClient = ({ route }: Choice): boolean => route?.onClientGone === "cancel";

function isConfigured({ provider }: Target, choice: Choice): boolean {
  const needsCredential = PROVIDERS[provider.kind].auth !== "none" && choice.channel !== "subscription";
  return provider.enabled && (provider.credential !== null || !needsCredential);
}

/** Translated calls always ask for usage in their own body. */
function asksUpstreamForUsage(call: Call, { provider, wire }: Target): boolean {
  if (!call.streamed || wire !== "chat" || !isNative(call, wire)) return false;
  return PROVIDERS[provider.kind].acceptsStreamUsageOption && !asksForUsage(call.body);
}

const isNative = ({ surface }: Call, wire: WireName): boolean => SURFACES[surface].wire === wire;

function headersFor(call: Call, choice: Choice, { provider, wire }: Target): HeaderTable {
  const headers = isNative(call, wire)
    ? upstreamHeaders(call.headers, wire)
    : translatedHeaders(call.headers, wire);
  for (const name in provider.headers) headers[name.toLowerCase()] = provider.headers[name] ?? "";
  if (choice.channel === "subscription" && call.passthroughCredential) {
    headers[call.passthroughCredential.header] = call.passthroughCredential.value;
    return headers;
  }
  const credential = credentialHeader(provider);
  if (credential) headers[credential[0]] = credential[1];
  return headers;
}
