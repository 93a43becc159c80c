import type { Clock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";
import type { Call, CallLabels, Choice, Target } from "./call.ts";
import type { Directory } from "./directory.ts";
import { type FailureCause, GatewayError } from "./errors.ts";
import {
  evaluateGuardrails,
  type GuardrailTools,
  type GuardrailVerdict,
  type ModelCallInput,
} from "./guardrail/evaluate.ts";
import { lateRules, withLateFields } from "./guardrail/late-fields.ts";
import { pace } from "./guardrail/pace.ts";
import { additionalModels } from "./http/additional-models.ts";
import { readLabels } from "./http/labels.ts";
import { isNone, type References, referencesIn, withIds } from "./http/references.ts";
import { ownLimitHeaders } from "./limits/claude-limit-headers.ts";
import { withCallBudgets } from "./limits/key-budgets.ts";
import { closeEntry, type Facts, openEntry } from "./metering/entry.ts";
import type { PriceBook } from "./pricing/price-book.ts";
import { vendorHostsOf } from "./providers/endpoint.ts";
import { VENDORS } from "./providers/vendors.ts";
import { WIRES } from "./providers/wires.ts";
import type { Recorder } from "./recorder/recorder.ts";
import { chooseRoute } from "./routing/choose.ts";
import { orderedTargets } from "./routing/deployments.ts";
import type { RoutingLookups } from "./routing/lookups.ts";
import { requireScope } from "./routing/scope.ts";
import { withLane } from "./routing/subscription-lane.ts";
import type { BodyCapture } from "./stores/bodies.ts";
import type { KeptAnswers } from "./stores/kept-answers.ts";
import type { Limiter } from "./stores/limits/limiter.ts";
import { surfaceFacts } from "./surface-facts.ts";
import { type AnswerDeps, relayAnswer } from "./upstream/answer.ts";
import { noted, ownHeaders, withTold } from "./upstream/answer-headers.ts";
import { attemptError, noteFailure } from "./upstream/attempt.ts";
import { bodyTexts } from "./upstream/body-texts.ts";
import { answeredFacts, deniedFacts, endedFacts, failedFacts } from "./upstream/call-facts.ts";
import { captureAnswer } from "./upstream/capture.ts";
import type { Deployments } from "./upstream/deployments.ts";
import { forward, type UpstreamDeps } from "./upstream/forward.ts";
import { keepAnswer, resolveReferences } from "./upstream/references.ts";
import {
  admission,
  countedRow,
  opened,
  settled,
  unrecorded,
  withPricedTargets,
} from "./upstream/reservation.ts";
import { wireLookups, withExpressibleTargets } from "./upstream/translation.ts";

export type ExchangeDeps = UpstreamDeps &
  AnswerDeps & {
    log: Log;
    directory: { current(): Directory };
    /** Classifies the text of calls to `auto`. */
    classify: RoutingLookups["classify"];
    prices(): PriceBook;
    recorder: Pick<Recorder, "open" | "settle">;
    limiter: Pick<Limiter, "reserve">;
    deployments: Deployments;
    /** Whether another key made one of the things that a call refers to. */
    refersToForeign(keyId: string, references: References): Promise<boolean>;
    bodies: Pick<BodyCapture, "keep">;
    /** Keeps translated responses, which later calls refer to. */
    keptAnswers: Pick<KeptAnswers, "keep" | "find">;
    /** Calls the service that a guardrail names. */
    consult: GuardrailTools["consult"];
    /** Counts a guardrail that matched. */
    guardrailTriggered(rule: string, outcome: "block" | "soft_deny" | "observed"): void;
  };

/** One client call, from key to record, in the order in which things happen. */
export async function exchange(deps: ExchangeDeps, received: Call): Promise<Response> {
  const labels = readLabels(received.headers, received.body);

  // Route
  const prices = deps.prices();
  const { call, choice } = await routed(deps, received, { prices, labels });

  // Guardrails: texts are read in memory only; nothing but the rule's name is recorded.
  const verdict = await evaluate(deps, call, { labels, choice });
  for (const rule of verdict.observed) deps.guardrailTriggered(rule, "observed");
  const late = judgeLateFields(deps, call, { labels, choice, observed: verdict.observed });
  const recorder = surfaceFacts(call.surface).unrecorded ? unrecorded(deps.telemetry) : deps.recorder;
  const entry = openEntry(call, choice, { labels, guardrail: verdict.rule });
  const closed = (facts: Facts) => {
    call.memory?.release();
    const ruled = late.rule === null ? entry : { ...entry, guardrail: late.rule };
    return noted(call, closeEntry(ruled, facts, sinceAdmission(deps, call)));
  };

  // Limits: the most that the call may cost is reserved until its record is stored.
  const recorded = recorder === deps.recorder;
  const { grant, refusal, soft } = await admission(deps, call, { choice, prices, verdict, recorded });
  if (refusal && !call.socket?.refused) {
    await recorder.settle(closed(deniedFacts(refusal.type, soft)));
    if (soft) return withTold(soft, call);
    throw refusal;
  }

  // Record: from here on the call settles exactly once. The intent is on disk before the call is sent.
  const settle = (facts: Facts) =>
    settled(recorder, countedRow(closed(endedFacts(facts, refusal)), call, grant), grant);
  await opened(recorder, entry, grant);

  // Upstream
  const attempt = await forward(deps, choice, call);
  if (refusal) call.socket?.refused?.(refusal);
  if (attempt.kind === "failed") {
    await settle(failedFacts(call, attempt));
    throw attemptError(attempt, choice);
  }

  // Stream, meter, record
  let ttftMs: number | null = null;
  let reason: FailureCause | null = null;
  const answer = await relayAnswer(deps, {
    wire: WIRES[attempt.target.wire],
    surface: call.surface,
    attempt,
    memory: call.memory,
    signal: call.signal,
    closeConnection: call.closeConnection,
    withholdUsage: attempt.usageRequested && choice.route?.usageChunk !== "pass",
    drainWhenGone: choice.route?.onClientGone !== "cancel",
    own: ownHeaders(call),
    limitHeaders: ownLimitHeaders(call.key.program, grant.budget),
    onContent: () => {
      ttftMs = sinceAdmission(deps, call);
    },
    settle: async (ending, reading, cause) => {
      reason = cause;
      deps.deployments.finished(attempt.target);
      if (cause !== null) noteFailure(deps, call, { choice, attempt, cause });
      if (attempt.translation) await keepAnswer(deps.keptAnswers, call, attempt);
      await settle(answeredFacts(call, attempt, { ending, cause, reading, ttftMs, prices }));
    },
  });
  if (!answer) throw attemptError({ ...attempt, type: "upstream_broken", reason, cause: null }, choice);
  return choice.route?.bodyCapture ? captureAnswer(deps.bodies, call, answer) : answer;
}

/** What another key made at a vendor through this gateway does not exist for this one. @throws GatewayError not_found */
export async function requireOwnReferences(
  deps: Pick<ExchangeDeps, "refersToForeign">,
  keyId: string,
  references: References,
): Promise<void> {
  if (isNone(references)) return;
  if (await deps.refersToForeign(keyId, references)) {
    throw new GatewayError("not_found", "No such response, item, container or file exists.");
  }
}

type RoutingFacts = { prices: PriceBook; labels: Pick<CallLabels, "session" | "tags"> };

/** The call with the items that it refers to, and where to send it. */
async function routed(
  deps: ExchangeDeps,
  received: Call,
  { prices, labels: { session, tags } }: RoutingFacts,
): Promise<{ call: Call; choice: Choice }> {
  const chosen = chooseRoute(deps.directory.current(), received, routingLookups(prices, deps));
  requireScope(received.key, chosen, () => additionalModels(received.body));
  const resolved = await resolveReferences(deps.keptAnswers, received, chosen);
  const references = withIds(referencesIn(resolved.body), received.vendor?.ids);
  if (!isNone(references)) await requireOwnReferences(deps, resolved.key.id, references);
  const referring = references.kept.length > 0 ? { ...resolved, refersTo: references.kept } : resolved;
  const call = withCallBudgets(referring, deps.directory.current(), { routes: [chosen.routeName], tags });
  const lane = withLane(call, withExpressibleTargets(call, chosen), vendorHosts);
  const choice = withPricedTargets(call, lane, prices);
  return { call, choice: orderedTargets(choice, { id: call.id, session }, deps.deployments) };
}

export const routingLookups = (
  prices: PriceBook,
  { classify, learnedWires }: Partial<Pick<ExchangeDeps, "classify" | "learnedWires">> = {},
): RoutingLookups => ({
  knowsModel: (provider, model) => prices.knows(provider.kind, model),
  ...wireLookups(learnedWires ?? null),
  ...VENDORS,
  classify: classify ?? null,
});

function evaluate(
  { clock, consult, directory }: ExchangeDeps,
  { key, body, vendor }: Call,
  it: Pick<ModelCallInput, "labels" | "choice">,
): GuardrailVerdict | Promise<GuardrailVerdict> {
  const rules = directory.current().guardrails;
  if (rules.length === 0) return { kind: "pass", rule: null, observed: [] };
  const input = { ...it, key, ...bodyTexts(body), passedThrough: vendor !== undefined };
  return evaluateGuardrails(rules, input, { pace: pace(clock), consult });
}

/** Judges the fields after a form's first file as they come; `rule` is then the one that matched. */
function judgeLateFields(
  deps: ExchangeDeps,
  { key, body, upload }: Call,
  it: Pick<ModelCallInput, "labels" | "choice"> & { observed: readonly string[] },
): { rule: string | null } {
  const late: { rule: string | null } = { rule: null };
  const { guardrails } = deps.directory.current();
  if (guardrails.length === 0) return late;
  const observed = new Set(it.observed);
  const input = { ...it, key, ...bodyTexts(body) };
  upload?.onLateFields(async (fields) => {
    const rules = lateRules(guardrails, observed);
    const tools = { pace: pace(deps.clock), consult: deps.consult };
    const verdict = await evaluateGuardrails(rules, withLateFields(input, fields), tools);
    late.rule ??= verdict.rule;
    for (const rule of verdict.observed) {
      observed.add(rule);
      deps.guardrailTriggered(rule, "observed");
    }
    if (verdict.kind === "pass") return;
    late.rule = verdict.rule;
    deps.guardrailTriggered(verdict.rule, "block");
    throw new GatewayError("guardrail_blocked", verdict.message ?? undefined);
  });
  return late;
}

/** Milliseconds since the request was complete; for an unfinished upload, since its headers arrived. */
const sinceAdmission = (deps: { clock: Clock }, { upload, admittedMonotonicMs }: Call) =>
  deps.clock.monotonicMs() - (upload?.completedMs() ?? admittedMonotonicMs);

const vendorHosts = ({ provider }: Target) => vendorHostsOf(provider.kind);
