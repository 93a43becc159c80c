import type { KeyLimits } from "#drizzle/schema/keys.ts";
import { decideAway, leaseUsd } from "../../limits/away.ts";
import { decideLimits, type LimitDemand, type LimitRefusal, type LimitState } from "../../limits/decide.ts";
import type { Pico } from "../../limits/money.ts";
import { rateSlotAt } from "../../limits/window.ts";
import type { LimitAccount } from "./away-sql.ts";
import type { DatabaseConnectivity } from "./connectivity.ts";
import { type AdmittedCall, type KeyAccount, slotOf } from "./key-account.ts";
import type { LimitStore, ReservationPlan, ReservedCall } from "./limit-store.ts";

/** A call to be admitted. */
type QueuedCall = { callId: string; startedAt: string; limits: KeyLimits; demand: LimitDemand };

type QueueAnswer =
  | { kind: "granted"; call: AdmittedCall }
  | { kind: "refused"; refusal: LimitRefusal }
  /** The database is away, and so is what this process may admit without it. */
  | { kind: "used_up" };

/** A key's calls in one process: admitted in batches, one database query at a time. */
export type KeyQueue = {
  request(call: QueuedCall): Promise<QueueAnswer>;
  /** The limits of the last call. */
  limits(): KeyLimits;
  /**
   * Tells the database what was let through without it. Resolves with the minutes in which that was; empty if nothing
   * was. Rejects, to be tried again, if the database does not take it.
   */
  settleAway(): Promise<number[]>;
  /** Idle long enough to be forgotten. */
  idle(): boolean;
};

export type KeyQueueDeps = {
  account: LimitAccount;
  figures: KeyAccount;
  store: Pick<LimitStore, "reserve" | "storeAway">;
  connectivity: Pick<DatabaseConnectivity, "reachable" | "onFailure" | "whileReachable" | "silentMs">;
  clock: { monotonicMs(): number };
  replicas(): number;
  /** The least that the records of the key's period have cost. */
  spent(): Pico;
};

/** Calls admitted with one query. */
const BATCH_MAX = 200;
/** Longer than a slot of the rate limits counts. */
const IDLE_MS = 90_000;
/** Other processes take a slice of the budget back from a process without a heartbeat some minutes after this. */
const SLICE_GOOD_MS = 60 * 60_000;

type WaitingCall = { call: QueuedCall; answer(it: QueueAnswer): void };

export function createKeyQueue(deps: KeyQueueDeps): KeyQueue {
  const { clock, figures } = deps;
  const queue: WaitingCall[] = [];
  const lease = createLease(deps);
  let limits: KeyLimits = {};
  let usedAtMs = clock.monotonicMs();
  let busy = false;

  async function run(): Promise<void> {
    busy = true;
    while (queue.length > 0) await answerBatch(deps, lease, queue.splice(0, BATCH_MAX));
    busy = false;
  }

  return {
    request(call) {
      usedAtMs = clock.monotonicMs();
      limits = call.limits;
      return new Promise((answer) => {
        queue.push({ call, answer });
        if (!busy) void run();
      });
    },
    limits: () => limits,
    settleAway: () => settleAway(deps, lease),
    idle: () =>
      !busy &&
      figures.running() === 0 &&
      figures.unbooked().usd === 0n &&
      clock.monotonicMs() - usedAtMs > IDLE_MS,
  };
}

type Lease = ReturnType<typeof createLease>;

/** The slice of the budget in memory, and what the database says of it. */
function createLease({ figures, connectivity, replicas }: KeyQueueDeps) {
  let sliceUsd = 0n;
  let isStored = false;
  return {
    current: () => ({
      usd: connectivity.silentMs() < SLICE_GOOD_MS ? sliceUsd : 0n,
      replicas: replicas(),
    }),
    /** What to store; null if the database has nothing and needs nothing. */
    next(limits: KeyLimits, state: LimitState) {
      const { usd, calls } = figures.unbooked();
      const slice = leaseUsd(limits, state);
      const isEmpty = slice + usd === 0n && calls === 0;
      return isEmpty && !isStored ? null : { usd: slice + usd, calls, slice };
    },
    stored(next: { slice: Pico; usd: Pico; calls: number }): void {
      sliceUsd = next.slice;
      figures.newSlice();
      isStored = next.usd > 0n || next.calls > 0;
    },
  };
}

async function answerBatch(deps: KeyQueueDeps, lease: Lease, batch: WaitingCall[]): Promise<void> {
  const answers = await reserveInDatabase(deps, lease, batch);
  for (const [index, { call, answer }] of batch.entries()) {
    answer(answers?.[index] ?? admitAway(deps, lease, call));
  }
}

/** Null if the database cannot be queried. */
async function reserveInDatabase(
  deps: KeyQueueDeps,
  lease: Lease,
  batch: WaitingCall[],
): Promise<QueueAnswer[] | null> {
  const { account, connectivity, figures, store } = deps;
  if (!connectivity.reachable()) return null;
  try {
    let decided: Decided | null = null;
    const reserving = store.reserve(account, (state) => {
      decided = decideBatch(deps, lease, { batch, state });
      return decided.plan;
    });
    await connectivity.whileReachable(reserving);
    return decided && booked(figures, lease, decided);
  } catch (error) {
    connectivity.onFailure(error);
    return null;
  }
}

/** Remembers what the database has stored. */
function booked(figures: KeyAccount, lease: Lease, { answers, plan, next, state }: Decided): QueueAnswer[] {
  figures.saw(state);
  if (plan.lease && next) lease.stored(next);
  for (const answer of answers) if (answer.kind === "granted") figures.admit(answer.call);
  return answers;
}

type Batch = { batch: WaitingCall[]; state: LimitState };
type Decided = {
  answers: QueueAnswer[];
  plan: ReservationPlan;
  next: ReturnType<Lease["next"]>;
  /** The database's figures with what the plan reserves. */
  state: LimitState;
};

/** Decides the calls in order, then renews the lease from what is left. */
function decideBatch(
  { account, figures }: KeyQueueDeps,
  lease: Lease,
  { batch, state: found }: Batch,
): Decided {
  const limits = batch.at(-1)?.call.limits ?? {};
  const unbooked = figures.unbooked();
  const slot = rateSlotAt(found.nowMs);
  const reserved: ReservedCall[] = [];
  let state = { ...found, held: found.held + unbooked.usd, calls: found.calls + unbooked.calls };
  const answers = batch.map(({ call }): QueueAnswer => {
    const verdict = decideLimits({ ...call, period: account.period, state });
    if ("refusal" in verdict) return { kind: "refused", refusal: verdict.refusal };
    const { reservation } = verdict;
    state = verdict.state;
    reserved.push({ ...call, ...reservation });
    return {
      kind: "granted",
      call: { reservation, slot, booked: true, limits: call.limits, spent: found.spent },
    };
  });
  const holdCalls = limits.budget_usd !== undefined || limits.concurrency !== undefined;
  const countRates = limits.requests_per_minute !== undefined || limits.tokens_per_minute !== undefined;
  // Without an admitted call nothing is written.
  const next = reserved.length > 0 && holdCalls ? lease.next(limits, state) : null;
  return { answers, plan: { reserved, holdCalls, countRates, lease: next }, next, state };
}

async function settleAway({ account, figures, store }: KeyQueueDeps, lease: Lease): Promise<number[]> {
  const taken = figures.take();
  const unbooked = figures.unbooked();
  if (taken.minutes.length === 0) return [];
  try {
    await store.storeAway(account, { ...taken, unbooked });
  } catch (error) {
    figures.giveBack(taken);
    throw error;
  }
  lease.stored({ ...unbooked, slice: 0n });
  return taken.minutes.map(({ atMs }) => atMs);
}

/** Decides without the database, at once. */
function admitAway(
  { account, figures, spent }: KeyQueueDeps,
  lease: Lease,
  { limits, demand }: QueuedCall,
): QueueAnswer {
  const state = figures.away(spent());
  const verdict = decideAway({ limits, period: account.period, demand, state, lease: lease.current() });
  if (verdict === null) return { kind: "used_up" };
  if ("refusal" in verdict) return { kind: "refused", refusal: verdict.refusal };
  const { reservation } = verdict;
  const call = { reservation, slot: slotOf(state), booked: false, limits, spent: state.whole.spent };
  figures.admit(call);
  return { kind: "granted", call };
}
