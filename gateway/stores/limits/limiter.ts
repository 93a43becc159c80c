import type { KeyLimits } from "#drizzle/schema/keys.ts";
import type { Clock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import type { Log } from "#shared/log.ts";
import type { ClientKey } from "../../directory.ts";
import { GatewayError } from "../../errors.ts";
import type { LimitDemand, LimitRefusal, RateLimit, Reservation } from "../../limits/decide.ts";
import { formatPico } from "../../limits/money.ts";
import { budgetPeriodAt } from "../../limits/window.ts";
import { type CallSettlements, createSettlements } from "./call-settlements.ts";
import { createConnectivity } from "./connectivity.ts";
import { createKeyQueue, type KeyQueue, type KeyQueueDeps } from "./key-queue.ts";
import { type LimitStore, openLimitStore } from "./limit-store.ts";

/** Actual usage of an admitted call. */
export type CallUsage = {
  /** Exact decimal; null if unknown. */
  costUsd: string | null;
  /** Null if unknown. */
  tokens: number | null;
};

/** An admitted call. Exactly one of the two methods is called, once; it takes at most 0.5 s and never rejects. */
export type Grant = {
  /** Returns the unused part; the rest stays reserved until the record is stored. Null: nothing to await. */
  settle(used: CallUsage): Promise<void> | null;
  /** The call was not sent and leaves no record. */
  release(): Promise<void>;
};

export type Limiter = {
  /**
   * Admits a call and reserves its maximum usage, or resolves with the error for the client. A key without limits costs
   * nothing: no query is made, and `demandOf` is not called.
   */
  reserve(call: LimitedCall, demandOf: () => LimitDemand): Grant | Promise<Grant | GatewayError>;
  close(): Promise<void>;
};

/** `recorded`: the call leaves a record, which removes its reservation. */
type LimitedCall = { id: string; key: ClientKey; admittedAt: Date; recorded: boolean };

export type LimiterOptions = { databaseUrl: string; clock: Clock; log: Log };

const BEAT_MS = 5000;

const UNLIMITED: Grant = { settle: () => null, release: async () => undefined };

const MESSAGES = {
  requests: "The key has reached its limit of requests per minute.",
  tokens: "The key has reached its limit of tokens per minute.",
  calls: "The key has reached its limit of concurrent calls.",
  reserved: "The rest of the key's budget is reserved for running calls.",
} as const satisfies Record<RateLimit, string>;

/** `chosen` is one of a few known values (pricing/price-answer.ts), so it may be quoted. */
const unpricedMessage = (chosen: string): string =>
  `The price of \`${chosen}\` is unknown, so a key with a budget may not use it. Leave it out.`;

/** Enforces keys' limits together with the other gateways on the database. */
export async function openLimiter({ databaseUrl, clock, log }: LimiterOptions): Promise<Limiter> {
  const store = openLimitStore(databaseUrl, newId());
  const connectivity = createConnectivity(clock, log);
  const ends = createSettlements(store, connectivity);
  let replicas = 1;
  const queues = createKeyQueues(ends, {
    store,
    clock,
    replicas: () => replicas,
    reachable: connectivity.reachable,
    onResult: connectivity.onResult,
    leasesValid: connectivity.leasesValid,
  });

  async function beat(): Promise<void> {
    try {
      const { alive, upMs } = await store.heartbeat();
      replicas = alive;
      connectivity.onHeartbeat(upMs);
      await ends.retry();
      await queues.releaseIdle(store);
      if (connectivity.isStable()) await store.sweep(ends.running());
    } catch (error) {
      connectivity.onResult(error);
    }
  }

  await beat();
  const timer = setInterval(() => void beat(), BEAT_MS);
  timer.unref();

  async function admit(
    call: LimitedCall,
    limits: KeyLimits,
    demand: LimitDemand,
  ): Promise<Grant | GatewayError> {
    const { id, admittedAt } = call;
    const queue = queues.of(call);
    ends.begin(id);
    const startedAt = admittedAt.toISOString();
    const answer = await queue.request({ callId: id, startedAt, limits, demand });
    if (answer.kind === "granted") {
      return answer.leased ? leasedGrant(ends, queue, id) : bookedGrant(ends, call, answer);
    }
    ends.forget(id);
    return answer.kind === "refused"
      ? errorOf(answer.refusal, demand, call.key)
      : new GatewayError("store_unavailable");
  }

  return {
    reserve(call, demandOf) {
      const { limits } = call.key;
      return limits === null || Object.keys(limits).length === 0
        ? UNLIMITED
        : admit(call, limits, demandOf());
    },
    async close() {
      clearInterval(timer);
      await store.deregister().catch(() => undefined);
      await store.close();
    },
  };
}

/** One queue for each key and period that has calls. */
function createKeyQueues(ends: CallSettlements, deps: Omit<KeyQueueDeps, "account" | "slotsFree">) {
  const queues = new Map<string, { keyId: string; queue: KeyQueue }>();
  return {
    of({ key, admittedAt }: LimitedCall): KeyQueue {
      const period = budgetPeriodAt(key.limits?.budget_period ?? "month", admittedAt);
      const name = `${key.id} ${period.from} ${period.to}`;
      const known = queues.get(name);
      if (known) return known.queue;
      const account = { keyId: key.id, period };
      const queue = createKeyQueue({ ...deps, account, slotsFree: () => ends.unsettled(key.id) });
      queues.set(name, { keyId: key.id, queue });
      return queue;
    },
    /** Returns the leases of idle keys. */
    async releaseIdle(store: Pick<LimitStore, "dropLease">): Promise<void> {
      for (const [name, { keyId, queue }] of [...queues]) {
        if (!queue.idle()) continue;
        queues.delete(name);
        await store.dropLease(keyId);
      }
    },
  };
}

function leasedGrant(ends: CallSettlements, queue: KeyQueue, id: string): Grant {
  const end = async () => {
    queue.leasedEnded(id);
    ends.forget(id);
  };
  return { settle: end, release: end };
}

function bookedGrant(
  ends: CallSettlements,
  { id, key, recorded }: LimitedCall,
  { reservation, slot }: { reservation: Reservation; slot: number },
): Grant {
  const { budget_usd, concurrency, tokens_per_minute } = key.limits ?? {};
  const isHeld = budget_usd !== undefined || concurrency !== undefined;
  const end = async (usd: string | null, tokens: number | null) => {
    const more = tokens_per_minute === undefined || tokens === null ? 0 : tokens - reservation.tokens;
    if (!isHeld && more === 0) return ends.forget(id);
    await ends.settle({ callId: id, keyId: key.id, usd, slot, tokensDelta: more });
  };
  return {
    settle: ({ costUsd, tokens }) => end(recorded ? (costUsd ?? "0") : null, tokens),
    release: () => end(null, 0),
  };
}

function errorOf(refusal: LimitRefusal, demand: LimitDemand, key: ClientKey): GatewayError {
  const { type, headers } = refusal;
  if (type === "rate_limited") {
    const error = new GatewayError(type, MESSAGES[refusal.limit]);
    error.headers = { ...headers, "retry-after": String(refusal.retryAfterSeconds) };
    return error;
  }
  const { unpricedOption } = demand;
  // Its bound exceeds any budget, so the refusal comes from the budget.
  const message =
    unpricedOption === undefined ? budgetMessage(key, refusal) : unpricedMessage(unpricedOption);
  const error = new GatewayError(type, message);
  error.headers = headers;
  return error;
}

type OverBudget = Extract<LimitRefusal, { type: "budget_exhausted" }>;

/** Whose budget it is, how much, and when the next one begins. */
function budgetMessage({ name, limits }: ClientKey, { left, endsMs }: OverBudget): string {
  const budget = `The budget of the key "${name}" (${limits?.budget_usd} USD a ${limits?.budget_period ?? "month"})`;
  const [date] = new Date(endsMs).toISOString().split("T");
  const state =
    left > 0n
      ? `has ${formatPico(left).replace(/\.?0+$/, "")} USD left, which does not cover what this call may cost.`
      : "is used up.";
  return `${budget} ${state} The next one begins on ${date} at 00:00 UTC.`;
}
