import type { Registry } from "prom-client";
import type { KeyLimits } from "#drizzle/schema/keys.ts";
import type { Clock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import type { Log } from "#shared/log.ts";
import type { GatewayError } from "../../errors.ts";
import { type BudgetUse, budgetUse } from "../../limits/budget-use.ts";
import type { LimitDemand } from "../../limits/decide.ts";
import { formatPico, parsePico } from "../../limits/money.ts";
import type { BudgetPeriod } from "../../limits/window.ts";
import type { KeySpend } from "./away-sql.ts";
import { type CallSettlements, createSettlements } from "./call-settlements.ts";
import { createConnectivity } from "./connectivity.ts";
import { startHeartbeat } from "./heartbeat.ts";
import type { AdmittedCall, KeyAccount } from "./key-account.ts";
import { createKeyQueues, type LimitedCall } from "./key-queues.ts";
import { limitError, usedUp } from "./limit-errors.ts";
import { limitMetrics } from "./limit-metrics.ts";
import { openLimitStore } from "./limit-store.ts";
import { openReconciler } from "./reconcile-away.ts";

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
  /** The most that the call may cost, as an exact decimal; undefined for a key without a budget. */
  boundUsd?: string | undefined;
  /** What a call that was answered counts as while its cost is unknown; undefined also if its model has no price. */
  unknownUsd?: string | undefined;
  /** The use of the key's budget, or of the fullest of the budgets that the call counts in; undefined without one. */
  budget?: BudgetUse | undefined;
};

export type Limiter = {
  /**
   * Admits a call and reserves its maximum usage, or resolves with the error for the client. A key without limits costs
   * nothing: no query is made, and `demandOf` is not called.
   */
  reserve(call: LimitedCall, demandOf: () => LimitDemand): Grant | Promise<Grant | GatewayError>;
  /** What keys with a budget have spent, as last read. */
  spend(): KeySpend;
  /** The first attempt to reach the database has ended. Until then limits are counted here. */
  begun: Promise<void>;
  close(): Promise<void>;
};

export type LimiterOptions = {
  databaseUrl: string;
  clock: Clock;
  log: Log;
  metrics: Registry;
  /** Resolves when the records of all calls that have ended are stored. */
  recorded: () => Promise<void>;
  /** What keys had spent when that was last known. */
  spend?: KeySpend | undefined;
};

const UNLIMITED: Grant = { settle: () => null, release: async () => undefined };

/** Enforces keys' limits together with the other gateways on the database, and alone while it is away. */
export function openLimiter(options: LimiterOptions): Limiter {
  const { databaseUrl, clock, log } = options;
  const store = openLimitStore(databaseUrl, newId());
  const late = { onAway: () => {} };
  const connectivity = createConnectivity(clock, log, () => late.onAway());
  const metrics = limitMetrics(options.metrics, () => !connectivity.reachable());
  const ends = createSettlements(store, connectivity);
  const shared = { replicas: 1, spend: options.spend ?? NOTHING_SPENT };
  const queues = createKeyQueues({
    store,
    clock,
    connectivity,
    replicas: () => shared.replicas,
    spentBy: (keyId, period) => spentBy(shared.spend, keyId, period),
  });
  const reconciler = openReconciler({ ...options, store, queues, metrics, shared });
  const heartbeat = startHeartbeat({ store, connectivity, ends, queues, reconciler, shared });
  late.onAway = heartbeat.hurry;

  async function admit(
    call: LimitedCall,
    limits: KeyLimits,
    demand: LimitDemand,
  ): Promise<Grant | GatewayError> {
    const { id, admittedAt } = call;
    const { queue, figures, account } = queues.of(call);
    ends.begin(id);
    const startedAt = admittedAt.toISOString();
    const answer = await queue.request({ callId: id, startedAt, limits, demand });
    if (answer.kind === "granted") {
      if (!answer.call.booked) metrics.admittedAway();
      return {
        ...grantOf({ ends, figures, period: account.period }, call, answer.call),
        ...(limits.budget_usd !== undefined && { unknownUsd: knownBound(demand) }),
      };
    }
    ends.forget(id);
    return answer.kind === "refused" ? limitError(answer.refusal, demand, call) : usedUp();
  }

  return {
    reserve(call, demandOf) {
      const { limits } = call.key;
      return limits === null || Object.keys(limits).length === 0
        ? UNLIMITED
        : admit(call, limits, demandOf());
    },
    spend: () => shared.spend,
    begun: heartbeat.begun,
    async close() {
      heartbeat.stop();
      await store.deregister().catch(() => undefined);
      await store.close();
    },
  };
}

const NOTHING_SPENT: KeySpend = { day: "", month: "", byKey: new Map() };

/** As last read; nothing if that was in another period. */
function spentBy({ day, month, byKey }: KeySpend, keyId: string, { from, to }: BudgetPeriod): bigint {
  const isDay = Date.parse(to) - Date.parse(from) === DAY_MS;
  if (from !== (isDay ? day : month)) return 0n;
  return byKey.get(keyId)?.[isDay ? "day" : "month"] ?? 0n;
}

const DAY_MS = 86_400_000;

/** The bounded part of a call's cost. A call without a price reserves one pico-dollar, which says nothing. */
const knownBound = ({ minimumUsd }: LimitDemand): string | undefined =>
  minimumUsd > 1n ? formatPico(minimumUsd) : undefined;

type GrantDeps = { ends: CallSettlements; figures: KeyAccount; period: BudgetPeriod };

function grantOf(
  { ends, figures, period }: GrantDeps,
  { id, key, recorded }: LimitedCall,
  admitted: AdmittedCall,
): Grant {
  const { booked, reservation, slot, limits, spent } = admitted;
  const { budget_usd, concurrency, tokens_per_minute } = limits;
  const isHeld = budget_usd !== undefined || concurrency !== undefined;
  const end = async (usd: string | null, tokens: number | null) => {
    figures.end(admitted, { usd, tokens });
    const tokensDelta = tokens_per_minute === undefined || tokens === null ? 0 : tokens - reservation.tokens;
    if (!booked || (!isHeld && tokensDelta === 0)) return ends.forget(id);
    await ends.settle({ callId: id, keyId: key.id, usd, slot, tokensDelta });
  };
  return {
    ...(budget_usd !== undefined && {
      boundUsd: formatPico(reservation.usd),
      budget: budgetUse(spent, parsePico(budget_usd), period),
    }),
    settle: ({ costUsd, tokens }) => end(recorded ? (costUsd ?? "0") : null, tokens),
    release: () => end(null, 0),
  };
}
