import type { State } from "#drizzle/schema/records.ts";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { type Call, type Choice, SURFACES, surfaceFacts } from "./call.ts";
import type { Directory } from "./directory.ts";
import { ERRORS, GatewayError } from "./errors.ts";
import { withAsked } from "./http/asked.ts";
import { readLabels } from "./http/labels-in.ts";
import { closeEntry, type Facts, openEntry } from "./metering/entry.ts";
import { priceAnswer } from "./pricing/price-answer.ts";
import type { PriceBook } from "./pricing/price-book.ts";
import { vendorHostsOf, wireFor } from "./providers/catalog.ts";
import { WIRES } from "./providers/wires.ts";
import { FREE, type Reading, UNPRICED } from "./reading.ts";
import type { Recorder } from "./recorder/recorder.ts";
import { chooseRoute } from "./routing/choose.ts";
import type { RoutingKnowledge } from "./routing/knowledge.ts";
import { subscriptionLane } from "./routing/lane.ts";
import { requireScope } from "./routing/scope.ts";
import { relayAnswer } from "./upstream/answer.ts";
import type { DrainPool } from "./upstream/drain.ts";
import { type Attempt, forward, type UpstreamDeps } from "./upstream/forward.ts";
import type { Ending } from "./upstream/relay.ts";
import { requestIdOf, translatedWire } from "./upstream/translation.ts";

export type ExchangeDeps = UpstreamDeps & {
  clock: Clock;
  log: Log;
  directory: { current(): Directory };
  /** Follows the directory's prices. */
  prices(): PriceBook;
  recorder: Pick<Recorder, "open" | "settle">;
  drains: DrainPool;
};

/** One client call, from key to record. Read it top to bottom: that is the order in which things happen. */
export async function exchange(deps: ExchangeDeps, call: Call): Promise<Response> {
  const labels = readLabels(call.headers, call.body);

  // Route
  const prices = deps.prices();
  const chosen = chooseRoute(deps.directory.current(), call, routingKnowledge(prices));
  requireScope(call.key, chosen);
  const choice = laneOf(call, chosen);

  const recorder = surfaceFacts(call.surface).unrecorded ? UNRECORDED : deps.recorder;

  // Record: from here on the call settles exactly once. The intent is on disk before the provider sees the call.
  const entry = openEntry(call, labels, choice);
  const settle = (facts: Omit<Facts, "latencyMs">) =>
    recorder.settle(closeEntry(entry, { ...facts, latencyMs: sinceAdmission(deps, call) }));
  await recorder.open(entry);

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
  return answer;
}

export const routingKnowledge = (prices: PriceBook): RoutingKnowledge => ({
  knowsModel: (provider, model) => prices.knows(provider.kind, model),
  speaks: (provider, wire) => wireFor(provider, wire) === wire,
  translated: translatedWire,
  classify: null,
});

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

function failedFacts(
  { surface }: Call,
  { type, target, attempts, sent, left }: Extract<Attempt, { kind: "failed" }>,
): Omit<Facts, "latencyMs"> {
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
  { answer, target: called, attempts }: Extract<Attempt, { kind: "answer" }>,
  { ending, reading: told, ttftMs, prices }: Answered,
): Omit<Facts, "latencyMs"> {
  const target = { ...called, model: called.model ?? call.upload?.lateModel() ?? null };
  const reading = answer.ok ? withAsked(told, call) : told;
  const charged = answer.ok && !surfaceFacts(call.surface).free;
  return {
    state: answer.ok ? STATE_OF[ending] : "upstream_error",
    status: answer.status,
    errorType: answer.ok ? null : `upstream_${answer.status}`,
    target,
    attempts,
    providerRequestId: requestIdOf(answer.headers),
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
