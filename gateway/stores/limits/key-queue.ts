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

/** A call that wants to be let through. */
type QueuedCall = { callId: string; startedAt: string; limits: KeyLimits; demand: LimitDemand };

/** `leased`: booked in this process only. `slot`: when its tokens were booked. */
type QueueAnswer =
  | { kind: "granted"; booking: Reservation; slot: number; leased: boolean }
  | { kind: "refused"; refusal: LimitRefusal }
  | { kind: "away" };

/** A key's calls in one process: asked for together, one question to the database at a time. */
export type KeyQueue = {
  request(asking: QueuedCall): Promise<QueueAnswer>;
  /** A call that was let through on the lease has ended. */
  leasedEnded(callId: string): void;
  /** Idle for so long that its lease is given back. */
  idle(): boolean;
};

export type KeyQueueDeps = {
  account: LimitAccount;
  store: Pick<LimitStore, "reserve">;
  clock: Clock;
  replicas(): number;
  /** Whether to ask the database at all, and what came of it: null, or why it could not be asked. */
  reachable(): boolean;
  onResult(error: unknown): void;
  /** False when this process has been out of touch for so long that others may take what it holds. */
  leasesValid(): boolean;
  /** Places for calls at once that are still booked for this process though the calls have ended. */
  slotsFree(): number;
};

/** Calls asked for in one question. */
const TOGETHER_MAX = 200;
const IDLE_MS = 15_000;

type WaitingCall = { call: QueuedCall; answer(it: QueueAnswer): void };

export function createKeyQueue(deps: KeyQueueDeps): KeyQueue {
  const purse = createLeaseBalance(deps.clock);
  const queue: WaitingCall[] = [];
  let usedAtMs = deps.clock.monotonicMs();
  let busy = false;

  async function run(): Promise<void> {
    busy = true;
    while (queue.length > 0) await answerTogether(deps, purse, queue.splice(0, TOGETHER_MAX));
    busy = false;
  }

  return {
    request(asking) {
      usedAtMs = deps.clock.monotonicMs();
      return new Promise((answer) => {
        queue.push({ call: asking, answer });
        if (!busy) void run();
      });
    },
    leasedEnded: purse.ended,
    idle: () => !busy && purse.used().usd === 0n && deps.clock.monotonicMs() - usedAtMs > IDLE_MS,
  };
}

async function answerTogether(deps: KeyQueueDeps, purse: LeaseBalance, batch: WaitingCall[]): Promise<void> {
  const answers = await askDatabase(deps, purse, batch);
  for (const [index, { call: asking, answer }] of batch.entries()) {
    answer(answers ? (answers[index] ?? { kind: "away" }) : fromLease(deps, purse, asking));
  }
}

/** Null when it cannot be asked. */
async function askDatabase(
  deps: KeyQueueDeps,
  purse: LeaseBalance,
  batch: WaitingCall[],
): Promise<QueueAnswer[] | null> {
  if (!deps.reachable()) return null;
  try {
    let answers: QueueAnswer[] = [];
    await deps.store.reserve(deps.account, (standing) => {
      const asked = decideTogether(deps, purse, { batch, standing });
      answers = asked.answers;
      return asked.taking;
    });
    deps.onResult(null);
    return answers;
  } catch (error) {
    deps.onResult(error);
    return null;
  }
}

type Asked = { batch: WaitingCall[]; standing: LimitState };

/** Decides one after the other; then renews the lease from what is left. */
function decideTogether(
  { account, replicas }: KeyQueueDeps,
  purse: LeaseBalance,
  { batch, standing: found }: Asked,
): { answers: QueueAnswer[]; taking: ReservationPlan } {
  const limits = batch.at(-1)?.call.limits ?? {};
  const own = purse.used();
  const taken: ReservedCall[] = [];
  let standing = { ...found, held: found.held + own.usd, calls: found.calls + own.calls };
  const answers = batch.map(({ call: asking }): QueueAnswer => {
    const verdict = decideLimits({ ...asking, period: account.period, state: standing });
    if ("refusal" in verdict) return { kind: "refused", refusal: verdict.refusal };
    standing = verdict.state;
    taken.push({ ...asking, ...verdict.reservation });
    return { kind: "granted", booking: verdict.reservation, slot: rateSlotAt(found.nowMs), leased: false };
  });
  const holds = limits.budget_usd !== undefined || limits.concurrency !== undefined;
  const rated = limits.requests_per_minute !== undefined || limits.tokens_per_minute !== undefined;
  // Nothing is booked where nothing is let through.
  const lease = taken.length > 0 ? purse.renew(limits, standing, replicas()) : null;
  return {
    answers,
    taking: { reserved: taken, holdCalls: holds, countRates: rated, lease: holds ? lease : null },
  };
}

function fromLease(
  { leasesValid: leasesGood, slotsFree }: KeyQueueDeps,
  purse: LeaseBalance,
  { callId, limits, demand }: QueuedCall,
): QueueAnswer {
  const booking = leasesGood() ? purse.draw(callId, { limits, ask: demand, slotsFree: slotsFree() }) : null;
  return booking ? { kind: "granted", booking, slot: 0, leased: true } : { kind: "away" };
}
