import type { Ambient } from "#shared/clock.ts";
import { errorFields } from "#shared/log.ts";
import type { Call, Choice, Target } from "../call.ts";
import type { ErrorType, FailureCause } from "../errors.ts";
import { cachedHeaders, type HeaderTable, upstreamHeaders } from "../http/headers.ts";
import { asksForUsage } from "../http/splice.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { credentialHeader, upstreamUrl, vendorUrl } from "../providers/endpoint.ts";
import { SURFACES, type SurfaceName, surfaceFacts, type WireName } from "../surface-facts.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import type { Attempt } from "./attempt.ts";
import type { Deployments } from "./deployments.ts";
import { type DrainPool, longWait } from "./drain.ts";
import { answerFault, failureCauseOf, failureOf, ProviderFailure } from "./failures.ts";
import type { LearnedWires } from "./learned-wires.ts";
import { nativeBody } from "./native-body.ts";
import type { Send } from "./send.ts";
import { isRefused, ownRefusal, sentAgain, type Try } from "./sent-again.ts";
import { translatedHeaders, translationOf } from "./translation.ts";
import type { Watchdog, Watched } from "./watchdog.ts";

/** Deadline for connecting to a provider, TLS handshake included. */
const CONNECT_MS = 5000;

/** Statuses after which the next target is tried (decision: Fallbacks only before the first byte). */
const FALLBACK_STATUSES = new Set([429, 502, 503, 504, 529]);

/** Failures after which another target may be tried, if the request was not sent. */
const FALLBACK_FAILURES = new Set<ErrorType>(["upstream_unreachable", "provider_unconfigured"]);
/** A target that hangs is not waited for although it has the request: the call's cost is then a lower bound. */
const HANGS: ErrorType = "upstream_timeout";

export type UpstreamDeps = Ambient & {
  watchdog: Watchdog;
  send: Send;
  drains: DrainPool;
  deployments: Pick<Deployments, "began" | "ended" | "finished">;
  telemetry: Pick<Telemetry, "carry" | "ended">;
  learnedWires: LearnedWires;
};

/**
 * Sends the call to its targets in turn until one answers. The next target is tried only while no byte of an answer has
 * reached the client: after a connection failure, a status in `FALLBACK_STATUSES`, or a wait for the first byte that was
 * too long. After any other failure a request that the provider may have received is not retried: it may be billed.
 */
export function forward(deps: UpstreamDeps, choice: Choice, call: Call): Promise<Attempt> {
  return choice.targets.length === 1
    ? attemptOne(deps, { call, choice, target: choice.targets[0], attempts: 1 })
    : forwardInTurn(deps, choice, call);
}

async function forwardInTurn(deps: UpstreamDeps, choice: Choice, call: Call): Promise<Attempt> {
  const last = choice.targets.length - 1;
  let maybeBilled = false;
  for (const [index, target] of choice.targets.entries()) {
    const made = await attemptOne(deps, { call, choice, target, attempts: index + 1 });
    const attempt: Attempt = maybeBilled ? { ...made, maybeBilled } : made;
    if (index === last || !mayTryNext(attempt, call)) return attempt;
    // An answer is worth more than the refusal of a provider that cannot be asked.
    if (!choice.targets.slice(index + 1).some((next) => isConfigured(next, choice))) return attempt;
    maybeBilled ||= attempt.kind === "failed" && attempt.sent;
    // An unread body keeps its socket open until it is garbage collected.
    if (attempt.kind === "answer") {
      const { status } = attempt.answer;
      deps.log.info(
        { ...factsOf(call, choice, attempt), status },
        "a provider refused, so the next is asked",
      );
      await attempt.answer.body?.cancel();
      deps.deployments.finished(target);
    }
  }
  throw new RangeError("a choice has at least one target");
}

/** Images and speech are expensive to repeat, and a provider that got the request may have started. */
function mayTryNext(attempt: Attempt, { surface, signal }: Call): boolean {
  if (signal.aborted) return false;
  const { sentOnce } = surfaceFacts(surface);
  if (attempt.kind === "answer") return !sentOnce && FALLBACK_STATUSES.has(attempt.answer.status);
  return attempt.sent ? !sentOnce && attempt.type === HANGS : FALLBACK_FAILURES.has(attempt.type);
}

/** The log fields of an attempt. */
const factsOf = (call: Call, { routeName }: Choice, { target, attempts }: Attempt) => ({
  requestId: call.id,
  provider: target.provider.name,
  route: routeName,
  attempt: attempts,
});

/** Fails with a line in the log, which names the cause. */
async function attemptOne(deps: UpstreamDeps, it: Try): Promise<Attempt> {
  deps.deployments.began(it.target);
  const first = await sendTo(deps, it);
  const refused = isRefused(first, it.call) ? first : null;
  const attempt = refused
    ? await sentAgain(deps, it, { refused, send: (next) => sendTo(deps, next) })
    : first;
  deps.deployments.ended(attempt);
  if (attempt.kind === "failed" && !attempt.left) {
    const { type, reason, cause } = attempt;
    const facts = { ...factsOf(it.call, it.choice, attempt), type, cause: reason };
    deps.log.warn({ ...facts, ...errorFields(cause) }, "a provider did not answer");
  }
  return attempt;
}

async function sendTo(deps: UpstreamDeps, it: Try): Promise<Attempt> {
  const { call, choice, target, attempts } = it;
  if (!isConfigured(target, choice)) {
    return { target, attempts, ...UNSENT, type: "provider_unconfigured", reason: null, cause: null };
  }
  const deadline = new AbortController();
  const abort = () => deadline.abort();
  const watched: Watched = { deadlineMs: deps.clock.monotonicMs() + CONNECT_MS, expire: abort };
  const wait = leavesWithClient(choice) ? null : longWait(deps, { call, provider: target.provider, watched });
  let sent = false;
  const onSent = () => {
    sent = true;
    watched.deadlineMs = deps.clock.monotonicMs() + target.provider.firstByteMs;
  };
  const usageRequested = asksUpstreamForUsage(call, target);
  call.upload?.onAbort(abort);
  deps.watchdog.watch(watched);
  try {
    const translation = translationOf(call, { target, route: choice.route, without: it.without }, deps);
    const surface = translation?.surface ?? call.surface;
    const answer = await deps.send({
      target: target,
      surface,
      url: urlOf(call, { target, surface }) + (translation ? "" : call.query),
      vendor: call.vendor,
      headers: { ...deps.telemetry.carry(call), ...headersFor(call, choice, target) },
      streamed: call.streamed,
      body: translation?.body ?? nativeBody(call, target, usageRequested),
      upload: call.upload,
      socket: call.socket,
      signal: leaveSignal(call, choice, deadline.signal),
      decode: translation !== null,
      onSent,
    });
    const headers = cachedHeaders(answer.headers);
    const fault = answerFault(answer, headers);
    if (fault) {
      await answer.body?.cancel();
      return failedAttempt(it, { cause: new ProviderFailure(fault), sent, late: false });
    }
    return { kind: "answer", answer, headers, target, attempts, usageRequested, translation, abort };
  } catch (cause) {
    return failedAttempt(it, { cause, sent, late: deadline.signal.aborted });
  } finally {
    deps.watchdog.release(watched);
    wait?.end();
  }
}

function urlOf(call: Call, { target, surface }: { target: Target; surface: SurfaceName }): string {
  if (call.vendor) return vendorUrl(target.provider, call.vendor.path);
  return upstreamUrl(target.provider, { surface, model: target.model, streamed: call.streamed });
}

type Failure = { cause: unknown; sent: boolean; late: boolean };

function failedAttempt({ call, choice, target, attempts }: Try, { cause, sent, late }: Failure): Attempt {
  // The provider never got the complete call, so it can neither answer nor bill it.
  const fault = call.upload?.fault() ?? ownRefusal(cause);
  if (fault)
    return {
      ...UNSENT,
      target,
      attempts,
      type: fault.type,
      reason: null,
      cause: fault,
      left: call.signal.aborted,
    };
  const left = !late && call.signal.aborted && leavesWithClient(choice);
  const reason = late ? (sent ? "timeout_first_byte" : "timeout_connect") : failureCauseOf(cause);
  const type = reason === "timeout_first_byte" ? "upstream_timeout" : typeOf(cause, reason, sent);
  return {
    kind: "failed",
    target,
    attempts,
    type,
    reason,
    cause,
    sent: sent && (type !== "upstream_unreachable" || reason === "redirect"),
    left,
  };
}

/** A redirect is no answer, although something answered. */
const typeOf = (cause: unknown, reason: FailureCause, sent: boolean): ErrorType =>
  reason === "redirect" ? "upstream_unreachable" : failureOf(cause, sent);
const UNSENT = { kind: "failed", sent: false, left: false } as const;

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
  const isAskable = wire === "chat" || wire === "completions";
  if (!call.streamed || !isAskable || !isNative(call, wire)) return false;
  return provider.streamOptions && !asksForUsage(call.body);
}

const isNative = ({ surface }: Call, wire: WireName): boolean => SURFACES[surface].wire === wire;

function headersFor(call: Call, choice: Choice, { provider, wire }: Target): HeaderTable {
  const native = call.vendor ? PROVIDERS[provider.kind].wire : isNative(call, wire) ? wire : null;
  const headers = native ? upstreamHeaders(call.headers, native) : translatedHeaders(call.headers, wire);
  if (call.vendor?.empty) delete headers["content-type"];
  for (const [name, value] of Object.entries(provider.headers)) headers[name.toLowerCase()] = value.reveal();
  if (choice.channel === "subscription" && call.passthroughCredential) {
    headers[call.passthroughCredential.header] = call.passthroughCredential.value;
    return headers;
  }
  const credential = credentialHeader(provider, wire);
  if (credential) headers[credential[0]] = credential[1];
  return headers;
}
