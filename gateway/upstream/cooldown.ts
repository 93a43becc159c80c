import type { Clock } from "#shared/clock.ts";
import type { HeaderView, Target } from "../call.ts";
import type { FailureCause } from "../errors.ts";
import type { Attempt } from "./attempt.ts";

/** First pause after failures, in milliseconds; each further failure doubles it, up to the longest. */
const PAUSE_MS = { first: 5000, longest: 60_000 } as const;
/** The longest pause that a provider can ask for with `retry-after`. */
const ASKED_PAUSE_MAX_MS = 600_000;
/** Errors in a row that an answering provider may return before it is left alone: single ones are common. */
const ERRORS_BEFORE_PAUSE = 3;
/** Failures after which the next call would wait just as long, so that the first of them is enough. */
const SURE = new Set<CooldownCause>([
  "dns",
  "address_refused",
  "refused",
  "unroutable",
  "tls",
  "timeout_connect",
  "timeout_first_byte",
]);
/** Failures of the gateway itself. */
const OWN = new Set<CooldownCause>(["no_memory", "file_limit"]);
/** Targets remembered at once. */
const TARGETS_MAX = 1000;

/** Why a target is left alone: the provider gave no complete answer, or it answered with this status. */
type CooldownCause = FailureCause | `status_${number}`;

/** A target that has failed and has not answered since. Times are wall-clock milliseconds. */
export type TargetState = {
  provider: string;
  /** Which of the provider's credentials, counted from 0. */
  credential: number;
  model: string | null;
  /** `closed`: it is asked as usual; `open`: others come first; `half_open`: one call is trying it. */
  state: "closed" | "open" | "half_open";
  failures: number;
  cause: CooldownCause;
  untilMs: number | null;
};

/** Remembers which targets fail, so that calls with another choice do not wait for them. */
export type Cooldowns = {
  /** When its pause ends (monotonic milliseconds); 0 if it may be asked. */
  pausedUntil(target: Target): number;
  /** A call is about to be sent. After a pause, the first call tries the target, and the others wait for its result. */
  began(target: Target): void;
  ended(attempt: Attempt): void;
  states(): TargetState[];
};

type Entry = {
  target: Target;
  failures: number;
  cause: CooldownCause;
  pausedUntilMs: number;
  trying: boolean;
};

/** One deployment: a provider's address and credential, and a model. At a new address it has failed at nothing yet. */
export const deploymentKey = ({ provider: { name, baseUrl, account = 0 }, model }: Target): string =>
  `${name}\n${baseUrl}\n${account}\n${model ?? ""}`;

export type OnFailure = (provider: string, cause: CooldownCause) => void;

export function openCooldowns(clock: Clock, onFailure: OnFailure): Cooldowns {
  // Only targets that failed are in it, so that a call to a healthy one looks nothing up.
  const entries = new Map<string, Entry>();
  const entryOf = (target: Target) => (entries.size === 0 ? undefined : entries.get(deploymentKey(target)));
  const isPaused = ({ pausedUntilMs }: Entry) => pausedUntilMs > clock.monotonicMs();

  function failed(target: Target, { cause, pauseMs }: { cause: CooldownCause; pauseMs: PauseAfter }): void {
    onFailure(target.provider.name, cause);
    const key = deploymentKey(target);
    const failures = (entries.get(key)?.failures ?? 0) + 1;
    const pausedUntilMs = clock.monotonicMs() + pauseMs(failures);
    if (entries.size >= TARGETS_MAX) entries.clear();
    entries.set(key, { target, failures, cause, pausedUntilMs, trying: false });
  }

  return {
    pausedUntil(target) {
      const entry = entryOf(target);
      return entry && isPaused(entry) ? entry.pausedUntilMs : 0;
    },
    began(target) {
      const entry = entryOf(target);
      if (!entry || entry.pausedUntilMs === 0 || isPaused(entry)) return;
      entry.trying = true;
      entry.pausedUntilMs = clock.monotonicMs() + doubled(entry.failures);
    },
    ended(attempt) {
      const failure = failureIn(attempt, clock);
      if (failure === "unknown") return;
      if (failure) failed(attempt.target, failure);
      else if (entries.size > 0) entries.delete(deploymentKey(attempt.target));
    },
    states: () =>
      [...entries.values()].map((entry) => ({
        provider: entry.target.provider.name,
        credential: entry.target.provider.account ?? 0,
        model: entry.target.model,
        state: isPaused(entry) ? (entry.trying ? "half_open" : "open") : "closed",
        failures: entry.failures,
        cause: entry.cause,
        untilMs: isPaused(entry)
          ? Math.round(clock.now().getTime() + entry.pausedUntilMs - clock.monotonicMs())
          : null,
      })),
  };
}

/** Milliseconds to pause after this many failures in a row. */
type PauseAfter = (failures: number) => number;

const doubled: PauseAfter = (failures) =>
  Math.min(PAUSE_MS.first * 2 ** Math.max(0, failures - 1), PAUSE_MS.longest);
const afterSeveral: PauseAfter = (failures) =>
  failures < ERRORS_BEFORE_PAUSE ? 0 : doubled(failures - ERRORS_BEFORE_PAUSE + 1);

/** Null: the provider works. `unknown`: the call says nothing of it, such as one that its client abandoned or that the gateway could not send. */
function failureIn(
  attempt: Attempt,
  clock: Clock,
): { cause: CooldownCause; pauseMs: PauseAfter } | "unknown" | null {
  if (attempt.kind === "failed") {
    const { reason, left } = attempt;
    if (reason === null || left || OWN.has(reason)) return "unknown";
    return { cause: reason, pauseMs: SURE.has(reason) ? doubled : afterSeveral };
  }
  const { status } = attempt.answer;
  if (status < 500 && status !== 429) return null;
  const askedMs = retryAfterMs(attempt.headers, clock.now());
  const asked = askedMs === null ? null : Math.min(askedMs, ASKED_PAUSE_MAX_MS);
  return { cause: `status_${status}`, pauseMs: asked === null ? afterSeveral : () => asked };
}

/** A provider's wait in ms: `retry-after-ms`, else `retry-after` (seconds or HTTP date). Null: none or unreadable. */
function retryAfterMs(headers: Pick<HeaderView, "get">, now: Date): number | null {
  const exact = decimal(headers.get("retry-after-ms"));
  if (exact !== null) return exact;
  const text = headers.get("retry-after");
  const seconds = decimal(text);
  if (seconds !== null) return seconds * 1000;
  const atMs = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - now.getTime());
}

const decimal = (text: string | null): number | null =>
  text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
