import type { RequestState } from "#drizzle/schema/records.ts";
import type { Call } from "../call.ts";
import { ERRORS, type ErrorType, type FailureCause, type GatewayError } from "../errors.ts";
import { withRequestCounts } from "../http/request-counts.ts";
import type { Facts } from "../metering/entry.ts";
import { isAnotherModel, priceAnswer } from "../pricing/price-answer.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import { FREE, type Priced, type Reading, UNPRICED } from "../reading.ts";
import { surfaceFacts } from "../surface-facts.ts";
import type { Attempt } from "./attempt.ts";
import type { Ending } from "./relay.ts";
import { droppedIn, providerRequestId } from "./translation.ts";

/** The gateway denied the call before any provider was called; `answer` is the soft denial, if there is one. */
export const deniedFacts = (type: ErrorType, answer: Response | null = null): Facts => ({
  state: "denied",
  status: answer?.status ?? ERRORS[type].status,
  errorType: answer ? null : type,
  target: null,
  attempts: 0,
  providerRequestId: null,
  reading: null,
  priced: FREE,
  ttftMs: null,
  droppedMembers: null,
});

/** Of a refusal, the gateway denied what the provider had begun, and bills. */
export const endedFacts = (facts: Facts, refusal: GatewayError | null): Facts =>
  refusal
    ? { ...facts, state: "denied", status: ERRORS[refusal.type].status, errorType: refusal.type }
    : facts;

/** No provider answered. */
export function failedFacts(
  { surface }: Call,
  { type, reason, target, attempts, sent, left, maybeBilled }: Extract<Attempt, { kind: "failed" }>,
): Facts {
  const denied = type === "provider_unconfigured" || ERRORS[type].final;
  const isFree = !sent || type === "upstream_unreachable" || surfaceFacts(surface).free;
  return {
    state: left ? "client_gone" : denied ? "denied" : "upstream_error",
    status: left ? null : ERRORS[type].status,
    errorType: left ? null : type,
    errorCause: left ? null : reason,
    target,
    attempts,
    providerRequestId: null,
    reading: null,
    // After a reset or a timeout it is unknown whether the provider billed the call.
    priced: isFree && !maybeBilled ? FREE : UNPRICED,
    ttftMs: null,
    droppedMembers: null,
  };
}

type RelayedAnswer = {
  ending: Ending;
  cause: FailureCause | null;
  reading: Reading;
  ttftMs: number | null;
  prices: PriceBook;
};

/** A provider answered, with any status, and relaying has ended. */
export function answeredFacts(
  call: Call,
  attempt: Extract<Attempt, { kind: "answer" }>,
  { ending, cause, reading: metered, ttftMs, prices }: RelayedAnswer,
): Facts {
  const { answer, headers, attempts, translation, maybeBilled } = attempt;
  const target = { ...attempt.target, model: attempt.target.model ?? call.upload?.trailingModel() ?? null };
  const reading = withoutReferred(answer.ok ? withRequestCounts(metered, call) : metered, call);
  const answered = { ...reading, provider: target.provider, model: target.model, at: call.admittedAt };
  const charged = answer.ok && !surfaceFacts(call.surface).free;
  const priced = charged ? priceAnswer(prices, answered) : FREE;
  return {
    ...endingFacts(answer, ending, reading.failure),
    status: answer.status,
    errorCause: cause,
    target,
    attempts,
    providerRequestId: providerRequestId(headers) ?? metered.answerId ?? null,
    reading,
    modelMismatch: answer.ok && isAnotherModel(prices, answered),
    priced: maybeBilled ? atLeast(priced) : priced,
    ttftMs,
    droppedMembers: translation && droppedIn(translation),
  };
}

/** A container that a call names, it did not make. If it was made elsewhere, other keys may name it, too. */
const withoutReferred = (reading: Reading, { refersTo = [], vendor }: Call): Reading =>
  refersTo.length === 0 && !vendor
    ? reading
    : {
        ...reading,
        // Reading a thing makes none.
        keptId:
          vendor?.method === "GET" || refersTo.includes(reading.keptId ?? "")
            ? null
            : (reading.keptId ?? null),
        keptIds: reading.keptIds?.filter((id) => !refersTo.includes(id)) ?? [],
      };

/** Another target may bill the call as well. Of one that cost nothing otherwise, nothing is known then. */
const atLeast = (priced: Priced): Priced => (priced === FREE ? UNPRICED : { ...priced, atLeast: true });

/** A bad status, or an error that the provider reported inside an answer with a good one, is the provider's error. */
function endingFacts(
  { ok, status }: Response,
  ending: Ending,
  failure: string | undefined,
): Pick<Facts, "state" | "errorType"> {
  const state = STATES[ending];
  if (!ok) return { state: "upstream_error", errorType: `upstream_${status}` };
  if (failure !== undefined) {
    return { state: ending === "client_gone" ? state : "upstream_error", errorType: `upstream_${failure}` };
  }
  return { state, errorType: ending === "upstream_broken" ? "upstream_broken" : null };
}

const STATES = {
  complete: "ok",
  client_gone: "client_gone",
  upstream_broken: "upstream_broken",
} as const satisfies Record<Ending, RequestState>;
