import type { KeyLimits } from "#drizzle/schema/keys.ts";
import type { Clock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import type { Log } from "#shared/log.ts";
import type { ClientKey } from "../../directory.ts";
import { GatewayError } from "../../errors.ts";
import type { LimitDemand, LimitRefusal, Reservation } from "../../limits/decide.ts";
import { budgetPeriodAt } from "../../limits/window.ts";
import { type CallSettlements, createSettlements } from "./call-settlements.ts";
import { createConnectivity } from "./connectivity.ts";
import { createKeyQueue, type KeyQueue, type KeyQueueDeps } from "./key-queue.ts";
import { type LimitStore, openLimitStore } from "./limit-store.ts";

/** What a call that was let through came to. */
export type CallUsage = {
  /** Exact decimal; null when nobody knows. */
  costUsd: string | null;
  /** Null when nobody knows. */
  tokens: number | null;
};

/** A call that was let through. Either of the two is called once; it takes half a second at most and never rejects. */
export type Grant = {
  /** Gives back what the call did not use; the rest stays reserved until its record is there. Null: nothing is to be waited for. */
  settle(used: CallUsage): Promise<void> | null;
  /** The call was not sent, and no record will come. */
  release(): Promise<void>;
};

export type Limiter = {
  /**
   * Lets a call through, with what it may use at most reserved for it, or says why not, as the error that the client
   * gets. A key without limits costs nothing: no question is asked, and `ask` is not called.
   */
  reserve(call: LimitedCall, ask: () => LimitDemand): Grant | Promise<Grant | GatewayError>;
  close(): Promise<void>;
};

/** `recorded`: the call leaves a record, which takes its reservation away. */
type LimitedCall = { id: string; key: ClientKey; admittedAt: Date; recorded: boolean };

export type LimiterOptions = { databaseUrl: string; clock: Clock; log: Log };

const BEAT_MS = 5000;

const UNLIMITED: Grant = { settle: () => null, release: async () => undefined };

const MESSAGES = {
  requests: "The key has reached its limit of requests per minute.",
  tokens: "The key has reached its limit of tokens per minute.",
  calls: "The key has reached its limit of concurrent calls.",
  budget: "The rest of the key's budget does not cover what this call may cost.",
  reserved: "The rest of the key's budget is reserved for running calls.",
} as const satisfies Record<LimitRefusal["limit"], string>;

/** One of a few words that providers have (pricing/price-answer.ts), so it may be quoted. */
const unpricedMessage = (chosen: string): string =>
  `The price of \`${chosen}\` is unknown, so a key with a budget may not use it. Leave it out.`;

/** Keeps keys within their limits, together with the other gateways on the database. */
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

  async function asked(
    call: LimitedCall,
    limits: KeyLimits,
    ask: LimitDemand,
  ): Promise<Grant | GatewayError> {
    const { id, admittedAt } = call;
    const queue = queues.of(call);
    ends.begin(id);
    const answer = await queue.request({
      callId: id,
      startedAt: admittedAt.toISOString(),
      limits,
      demand: ask,
    });
    if (answer.kind === "granted") {
      return answer.leased ? leasedGrant(ends, queue, id) : bookedGrant(ends, call, answer);
    }
    ends.forget(id);
    return answer.kind === "refused" ? errorOf(answer.refusal, ask) : new GatewayError("store_unavailable");
  }

  return {
    reserve(call, ask) {
      const { limits } = call.key;
      return limits === null || Object.keys(limits).length === 0 ? UNLIMITED : asked(call, limits, ask());
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
    /** Gives back the leases of keys that have no calls. */
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

function errorOf(
  { type, limit, retryAfterSeconds, headers }: LimitRefusal,
  { unpricedOption: chosenApart }: LimitDemand,
): GatewayError {
  // Its bound is beyond any budget, so the budget is what refuses it.
  const isApart = limit === "budget" && chosenApart !== undefined;
  const error = new GatewayError(type, isApart ? unpricedMessage(chosenApart) : MESSAGES[limit]);
  error.headers = { ...headers, "retry-after": String(retryAfterSeconds) };
  return error;
}
