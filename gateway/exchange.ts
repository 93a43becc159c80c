import type { RequestRow, State } from "#drizzle/schema/records.ts";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { type Call, type Choice, SURFACES, surfaceFacts } from "./call.ts";
import type { Directory } from "./directory.ts";
import { ERRORS, type ErrorType, GatewayError } from "./errors.ts";
import { type Judged, type JudgeTools, judge, type Verdict } from "./guardrail/judge.ts";
import { pace } from "./guardrail/pace.ts";
import { textsOf } from "./guardrail/text.ts";
import { withAsked } from "./http/asked.ts";
import { readLabels } from "./http/labels-in.ts";
import { membersOf } from "./http/members.ts";
import { modelsBeside } from "./http/models-beside.ts";
import { asksForUsage } from "./http/splice.ts";
import { closeEntry, type Facts, openEntry } from "./metering/entry.ts";
import { priceAnswer } from "./pricing/price-answer.ts";
import type { PriceBook } from "./pricing/price-book.ts";
import { vendorHostsOf, wireFor } from "./providers/calling.ts";
import { softDenial } from "./providers/refusals.ts";
import { WIRES } from "./providers/wires.ts";
import { FREE, type Reading, UNPRICED } from "./reading.ts";
import type { Recorder } from "./recorder/recorder.ts";
import { chooseRoute } from "./routing/choose.ts";
import type { RoutingKnowledge } from "./routing/knowledge.ts";
import { requireScope } from "./routing/scope.ts";
import { subscriptionLane } from "./routing/subscription-lane.ts";
import type { Bodies } from "./stores/bodies.ts";
import type { Grant, Limiter } from "./stores/limits/limiter.ts";
import { relayAnswer } from "./upstream/answer.ts";
import { captured } from "./upstream/captured.ts";
import type { DrainPool } from "./upstream/drain.ts";
import { type Attempt, forward, type UpstreamDeps } from "./upstream/forward.ts";
import type { Ending } from "./upstream/relay.ts";
import { askOf, usedOf } from "./upstream/reservation.ts";
import { requestIdOf, translatedWire } from "./upstream/translation.ts";

export type ExchangeDeps = UpstreamDeps & {
  clock: Clock;
  log: Log;
  directory: { current(): Directory };
  /** Chooses for `auto` by the text. */
  classify: RoutingKnowledge["classify"];
  /** Follows the directory's prices. */
  prices(): PriceBook;
  recorder: Pick<Recorder, "open" | "settle">;
  limiter: Pick<Limiter, "reserve">;
  drains: DrainPool;
  /** Where the bodies of routes go that an administrator has captured. */
  bodies: Pick<Bodies, "keep">;
  /** Asks the service that a guardrail names. */
  consult: JudgeTools["consult"];
  /** Counts a guardrail that held. */
  guardrailHeld(rule: string, outcome: "block" | "soft_deny" | "observed"): void;
};

/** One client call, from key to record. Read it top to bottom: that is the order in which things happen. */
export async function exchange(deps: ExchangeDeps, call: Call): Promise<Response> {
  const labels = readLabels(call.headers, call.body);

  // Route
  const prices = deps.prices();
  const chosen = chooseRoute(deps.directory.current(), call, routingKnowledge(prices, deps.classify));
  requireScope(call.key, chosen, () => modelsBeside(call.body));
  const choice = laneOf(call, chosen);

  // Guardrail: the texts are read in memory, and no rule leaves anything but its name
  const verdict = await judged(deps, call, { labels, choice });
  for (const rule of verdict.observed) deps.guardrailHeld(rule, "observed");
  const recorder = surfaceFacts(call.surface).unrecorded ? UNRECORDED : deps.recorder;
  const entry = openEntry(call, labels, choice, verdict.rule);
  const closed = (facts: Facts) => closeEntry(entry, facts, sinceAdmission(deps, call));
  if (verdict.kind !== "pass") {
    const answer = verdict.kind === "soft_deny" ? denialOf(call, choice, verdict.message) : null;
    deps.guardrailHeld(verdict.rule, answer ? "soft_deny" : "block");
    await recorder.settle(closed(deniedFacts("guardrail_blocked", answer)));
    if (answer) return answer;
    throw new GatewayError("guardrail_blocked", verdict.message ?? undefined);
  }

  // Limits: what the call may cost at most is reserved, until its record is there.
  const { id, key, admittedAt } = call;
  const limited = { id, key, admittedAt, recorded: recorder !== UNRECORDED };
  const grant = await deps.limiter.reserve(limited, () => askOf(call, choice, prices));
  if (grant instanceof GatewayError) {
    await recorder.settle(closed(deniedFacts(grant.type)));
    throw grant;
  }

  // Record: from here on the call settles exactly once. The intent is on disk before the provider sees the call.
  const settle = (facts: Facts) => settled(recorder, closed(facts), grant);
  await opened(recorder, entry, grant);

  // Upstream
  const attempt = await forward(deps, choice, call);
  if (attempt.kind === "failed") {
    await settle(failedFacts(call, attempt));
    deps.log.warn({ requestId: call.id, type: attempt.type, ...errorFields(attempt.cause) }, "no answer");
    throw refusalOf(attempt);
  }

  // Stream, meter, record
  let ttftMs: number | null = null;
  const answer = await relayAnswer(deps, {
    wire: WIRES[attempt.target.wire],
    surface: call.surface,
    attempt,
    signal: call.signal,
    withholdUsage: attempt.usageAsked && choice.route?.usageChunk !== "pass",
    drainWhenGone: choice.route?.onClientGone !== "cancel",
    onContent: () => {
      ttftMs = sinceAdmission(deps, call);
    },
    settle: (ending, reading) => settle(answeredFacts(call, attempt, { ending, reading, ttftMs, prices })),
  });
  if (!answer) throw new GatewayError("upstream_broken");
  return choice.route?.bodyCapture ? captured(deps.bodies, call, answer) : answer;
}

export const routingKnowledge = (
  prices: PriceBook,
  classify: RoutingKnowledge["classify"] = null,
): RoutingKnowledge => ({
  knowsModel: (provider, model) => prices.knows(provider.kind, model),
  speaks: (provider, wire) => wireFor(provider, wire) === wire,
  translated: translatedWire,
  classify,
});

/** What the guardrails say; the body is decoded once, and only where a rule reads it. */
function judged(
  { clock, consult, directory }: ExchangeDeps,
  { key, body }: Call,
  it: Pick<Judged, "labels" | "choice">,
): Verdict | Promise<Verdict> {
  const rules = directory.current().guardrails;
  if (rules.length === 0) return { kind: "pass", rule: null, observed: [] };
  let texts: string[] | null = null;
  const beside = () => modelsBeside(body);
  const call = { ...it, key, beside, texts: () => (texts ??= textsOf(membersOf(body))) };
  return judge(rules, call, { pace: pace(clock), consult });
}

/** Null on a surface whose answers are no text of an assistant. */
function denialOf(call: Call, choice: Choice, message: string | null): Response | null {
  if (surfaceFacts(call.surface).unrecorded) return null;
  return softDenial(SURFACES[call.surface].wire, {
    text: message ?? ERRORS.guardrail_blocked.public,
    id: call.id,
    model: choice.targets[0].model ?? choice.routeName,
    createdAt: Math.floor(call.admittedAt.getTime() / 1000),
    streamed: call.streamed,
    usageAsked: asksForUsage(call.body),
  });
}

/** For what is asked of a provider and makes nothing that is paid for. */
const UNRECORDED: ExchangeDeps["recorder"] = { open: async () => undefined, settle: async () => undefined };

/** Milliseconds since the request was complete; of an upload that is not, since its head was. */
const sinceAdmission = (deps: { clock: Clock }, { upload, admittedMonotonicMs }: Call) =>
  deps.clock.monotonicMs() - (upload?.completedMs() ?? admittedMonotonicMs);

function laneOf(call: Call, choice: Choice): Choice {
  // A translated call goes to another vendor than the one that its caller's credential is for.
  const native = choice.targets.every(({ wire }) => wire === SURFACES[call.surface].wire);
  const open = subscriptionLane(call.foreignCredential, choice, (target) =>
    vendorHostsOf(target.provider.kind),
  );
  return native && open ? { ...choice, channel: "subscription" } : choice;
}

/** A refusal of the gateway's own says what is wrong with the request; of any other failure only its type is told. */
const refusalOf = ({ type, cause }: Extract<Attempt, { kind: "failed" }>): GatewayError =>
  cause instanceof GatewayError && cause.type === type ? cause : new GatewayError(type);

/** Puts the intent on disk; where that cannot be, nothing stays reserved. */
const opened = (recorder: ExchangeDeps["recorder"], entry: RequestRow, grant: Grant): Promise<void> =>
  recorder.open(entry).catch(async (error) => {
    await grant.drop();
    throw error;
  });

function settled(recorder: ExchangeDeps["recorder"], row: RequestRow, grant: Grant): Promise<void> {
  const ended = grant.end(usedOf(row));
  return ended === null ? recorder.settle(row) : ended.then(() => recorder.settle(row));
}

/** The gateway refused the call before it asked any provider; with an answer where the refusal looks like one. */
const deniedFacts = (type: ErrorType, answer: Response | null = null): Facts => ({
  state: "denied",
  status: answer?.status ?? ERRORS[type].status,
  errorType: answer ? null : type,
  target: null,
  attempts: 0,
  providerRequestId: null,
  reading: null,
  priced: FREE,
  ttftMs: null,
});

function failedFacts(
  { surface }: Call,
  { type, target, attempts, sent, left }: Extract<Attempt, { kind: "failed" }>,
): Facts {
  const refused = type === "provider_unconfigured" || ERRORS[type].final;
  return {
    state: left ? "client_gone" : refused ? "denied" : "upstream_error",
    status: left ? null : ERRORS[type].status,
    errorType: left ? null : type,
    target,
    attempts,
    providerRequestId: null,
    reading: null,
    // A reset or a silence leaves open whether the provider billed the call.
    priced: !sent || type === "upstream_unreachable" || surfaceFacts(surface).free ? FREE : UNPRICED,
    ttftMs: null,
  };
}

type Answered = { ending: Ending; reading: Reading; ttftMs: number | null; prices: PriceBook };

function answeredFacts(
  call: Call,
  { answer, headers, target: called, attempts }: Extract<Attempt, { kind: "answer" }>,
  { ending, reading: told, ttftMs, prices }: Answered,
): Facts {
  const target = { ...called, model: called.model ?? call.upload?.lateModel() ?? null };
  const reading = answer.ok ? withAsked(told, call) : told;
  const charged = answer.ok && !surfaceFacts(call.surface).free;
  return {
    state: answer.ok ? STATE_OF[ending] : "upstream_error",
    status: answer.status,
    errorType: answer.ok ? null : `upstream_${answer.status}`,
    target,
    attempts,
    providerRequestId: requestIdOf(headers),
    reading,
    priced: charged ? priceAnswer(prices, { ...target, ...reading, at: call.admittedAt }) : FREE,
    ttftMs,
  };
}

const STATE_OF = {
  complete: "ok",
  client_gone: "client_gone",
  upstream_broken: "upstream_broken",
} as const satisfies Record<Ending, State>;
