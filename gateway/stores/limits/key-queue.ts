import type { KeyLimits } from "#drizzle/schema/keys.ts";
import type { Clock } from "#shared/clock.ts";
import { type Ask, type Booking, decide, type Refusal, type Standing } from "../../limits/decide.ts";
import { slotOf } from "../../limits/window.ts";
import { createPurse, type LeasePurse } from "./lease-purse.ts";
import type { Account, LimitStore, Taken, Taking } from "./limit-store.ts";

/** A call that wants to be let through. */
type Asking = { callId: string; startedAt: string; limits: KeyLimits; ask: Ask };

/** `leased`: booked in this process only. `slot`: when its tokens were booked. */
type Answer =
  | { kind: "granted"; booking: Booking; slot: number; leased: boolean }
  | { kind: "refused"; refusal: Refusal }
  | { kind: "away" };

/** A key's calls in one process: asked for together, one question to the database at a time. */
export type KeyQueue = {
  ask(asking: Asking): Promise<Answer>;
  /** A call that was let through on the lease has ended. */
  leasedEnded(callId: string): void;
  /** Idle for so long that its lease is given back. */
  idle(): boolean;
};

export type KeyQueueDeps = {
  account: Account;
  store: Pick<LimitStore, "take">;
  clock: Clock;
  replicas(): number;
  /** Whether to ask the database at all, and what came of it: null, or why it could not be asked. */
  reachable(): boolean;
  heard(error: unknown): void;
  /** False when this process has been out of touch for so long that others may take what it holds. */
  leasesGood(): boolean;
  /** Places for calls at once that are still booked for this process though the calls have ended. */
  slotsFree(): number;
};

/** Calls asked for in one question. */
const TOGETHER_MAX = 200;
const IDLE_MS = 15_000;

type Waiting = { asking: Asking; answer(it: Answer): void };

export function createKeyQueue(deps: KeyQueueDeps): KeyQueue {
  const purse = createPurse(deps.clock);
  const queue: Waiting[] = [];
  let usedAtMs = deps.clock.monotonicMs();
  let busy = false;

  async function run(): Promise<void> {
    busy = true;
    while (queue.length > 0) await answerTogether(deps, purse, queue.splice(0, TOGETHER_MAX));
    busy = false;
  }

  return {
    ask(asking) {
      usedAtMs = deps.clock.monotonicMs();
      return new Promise((answer) => {
        queue.push({ asking, answer });
        if (!busy) void run();
      });
    },
    leasedEnded: purse.ended,
    idle: () => !busy && purse.own().usd === 0n && deps.clock.monotonicMs() - usedAtMs > IDLE_MS,
  };
}

async function answerTogether(deps: KeyQueueDeps, purse: LeasePurse, batch: Waiting[]): Promise<void> {
  const answers = await askDatabase(deps, purse, batch);
  for (const [index, { asking, answer }] of batch.entries()) {
    answer(answers ? (answers[index] ?? { kind: "away" }) : fromLease(deps, purse, asking));
  }
}

/** Null when it cannot be asked. */
async function askDatabase(
  deps: KeyQueueDeps,
  purse: LeasePurse,
  batch: Waiting[],
): Promise<Answer[] | null> {
  if (!deps.reachable()) return null;
  try {
    let answers: Answer[] = [];
    await deps.store.take(deps.account, (standing) => {
      const asked = decideTogether(deps, purse, { batch, standing });
      answers = asked.answers;
      return asked.taking;
    });
    deps.heard(null);
    return answers;
  } catch (error) {
    deps.heard(error);
    return null;
  }
}

type Asked = { batch: Waiting[]; standing: Standing };

/** Decides one after the other; then renews the lease from what is left. */
function decideTogether(
  { account, replicas }: KeyQueueDeps,
  purse: LeasePurse,
  { batch, standing: found }: Asked,
): { answers: Answer[]; taking: Taking } {
  const limits = batch.at(-1)?.asking.limits ?? {};
  const own = purse.own();
  const taken: Taken[] = [];
  let standing = { ...found, held: found.held + own.usd, calls: found.calls + own.calls };
  const answers = batch.map(({ asking }): Answer => {
    const verdict = decide({ ...asking, period: account.period, standing });
    if ("refusal" in verdict) return { kind: "refused", refusal: verdict.refusal };
    standing = verdict.standing;
    taken.push({ ...asking, ...verdict.booking });
    return { kind: "granted", booking: verdict.booking, slot: slotOf(found.nowMs), leased: false };
  });
  const holds = limits.budget_usd !== undefined || limits.concurrency !== undefined;
  const rated = limits.requests_per_minute !== undefined || limits.tokens_per_minute !== undefined;
  // Nothing is booked where nothing is let through.
  const lease = taken.length > 0 ? purse.renew(limits, standing, replicas()) : null;
  return { answers, taking: { taken, holds, rated, lease: holds ? lease : null } };
}

function fromLease(
  { leasesGood, slotsFree }: KeyQueueDeps,
  purse: LeasePurse,
  { callId, limits, ask }: Asking,
): Answer {
  const booking = leasesGood() ? purse.draw(callId, { limits, ask, slotsFree: slotsFree() }) : null;
  return booking ? { kind: "granted", booking, slot: 0, leased: true } : { kind: "away" };
}
