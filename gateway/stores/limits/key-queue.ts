import type { KeyLimits } from "#drizzle/schema/keys.ts";
import type { Clock } from "#shared/clock.ts";
import {
  decideLimits,
  type LimitDemand,
  type LimitRefusal,
  type LimitState,
  type Reservation,
} from "../../limits/decide.ts";
import { rateSlotAt } from "../../limits/window.ts";
import { createLeaseBalance, type LeaseBalance } from "./lease-balance.ts";
import type { LimitAccount, LimitStore, ReservationPlan, ReservedCall } from "./limit-store.ts";

/** A call to be admitted. */
type QueuedCall = { callId: string; startedAt: string; limits: KeyLimits; demand: LimitDemand };

/** `leased`: reserved in this process only. `slot`: the rate slot that counts its tokens. */
type QueueAnswer =
  | { kind: "granted"; reservation: Reservation; slot: number; leased: boolean }
  | { kind: "refused"; refusal: LimitRefusal }
  | { kind: "away" };

/** A key's calls in one process: admitted in batches, one database query at a time. */
export type KeyQueue = {
  request(call: QueuedCall): Promise<QueueAnswer>;
  /** A call admitted on the lease has ended. */
  leasedEnded(callId: string): void;
  /** Idle long enough for its lease to be returned. */
  idle(): boolean;
};

export type KeyQueueDeps = {
  account: LimitAccount;
  store: Pick<LimitStore, "reserve">;
  clock: Clock;
  replicas(): number;
  reachable(): boolean;
  onResult(error: unknown): void;
  /** False after so long without a heartbeat that other processes may take over this one's reservations. */
  leasesValid(): boolean;
  /** Concurrency slots still reserved for ended calls of this process. */
  slotsFree(): number;
};

/** Calls admitted with one query. */
const BATCH_MAX = 200;
const IDLE_MS = 15_000;

type WaitingCall = { call: QueuedCall; answer(it: QueueAnswer): void };

export function createKeyQueue(deps: KeyQueueDeps): KeyQueue {
  const balance = createLeaseBalance(deps.clock);
  const queue: WaitingCall[] = [];
  let usedAtMs = deps.clock.monotonicMs();
  let busy = false;

  async function run(): Promise<void> {
    busy = true;
    while (queue.length > 0) await answerBatch(deps, balance, queue.splice(0, BATCH_MAX));
    busy = false;
  }

  return {
    request(call) {
      usedAtMs = deps.clock.monotonicMs();
      return new Promise((answer) => {
        queue.push({ call, answer });
        if (!busy) void run();
      });
    },
    leasedEnded: balance.ended,
    idle: () => !busy && balance.used().usd === 0n && deps.clock.monotonicMs() - usedAtMs > IDLE_MS,
  };
}

async function answerBatch(deps: KeyQueueDeps, balance: LeaseBalance, batch: WaitingCall[]): Promise<void> {
  const answers = await reserveInDatabase(deps, balance, batch);
  for (const [index, { call, answer }] of batch.entries()) {
    answer(answers ? (answers[index] ?? { kind: "away" }) : fromLease(deps, balance, call));
  }
}

/** Null if the database cannot be queried. */
async function reserveInDatabase(
  deps: KeyQueueDeps,
  balance: LeaseBalance,
  batch: WaitingCall[],
): Promise<QueueAnswer[] | null> {
  if (!deps.reachable()) return null;
  try {
    let answers: QueueAnswer[] = [];
    await deps.store.reserve(deps.account, (state) => {
      const decided = decideBatch(deps, balance, { batch, state });
      answers = decided.answers;
      return decided.plan;
    });
    deps.onResult(null);
    return answers;
  } catch (error) {
    deps.onResult(error);
    return null;
  }
}

type Batch = { batch: WaitingCall[]; state: LimitState };

/** Decides the calls in order, then renews the lease from what is left. */
function decideBatch(
  { account, replicas }: KeyQueueDeps,
  balance: LeaseBalance,
  { batch, state: found }: Batch,
): { answers: QueueAnswer[]; plan: ReservationPlan } {
  const limits = batch.at(-1)?.call.limits ?? {};
  const leased = balance.used();
  const reserved: ReservedCall[] = [];
  let state = { ...found, held: found.held + leased.usd, calls: found.calls + leased.calls };
  const answers = batch.map(({ call }): QueueAnswer => {
    const verdict = decideLimits({ ...call, period: account.period, state });
    if ("refusal" in verdict) return { kind: "refused", refusal: verdict.refusal };
    state = verdict.state;
    reserved.push({ ...call, ...verdict.reservation });
    return {
      kind: "granted",
      reservation: verdict.reservation,
      slot: rateSlotAt(found.nowMs),
      leased: false,
    };
  });
  const holdCalls = limits.budget_usd !== undefined || limits.concurrency !== undefined;
  const countRates = limits.requests_per_minute !== undefined || limits.tokens_per_minute !== undefined;
  // Without an admitted call nothing is written.
  const lease = reserved.length > 0 ? balance.renew(limits, state, replicas()) : null;
  return { answers, plan: { reserved, holdCalls, countRates, lease: holdCalls ? lease : null } };
}

function fromLease(
  { leasesValid, slotsFree }: KeyQueueDeps,
  balance: LeaseBalance,
  { callId, limits, demand }: QueuedCall,
): QueueAnswer {
  const reservation = leasesValid() ? balance.draw(callId, { limits, demand, slotsFree: slotsFree() }) : null;
  return reservation ? { kind: "granted", reservation, slot: 0, leased: true } : { kind: "away" };
}
