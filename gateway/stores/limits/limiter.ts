import type { Registry } from "prom-client";
import { deadlinePool } from "#drizzle/deadline-pool.ts";
import type { Ambient } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import type { ClientKey } from "../../directory.ts";
import { GatewayError } from "../../errors.ts";
import type { LimitDemand } from "../../limits/decide.ts";
import { type Accounts, isLimited, limitedKeys, openAccounts } from "./accounts.ts";
import { openContact } from "./contact.ts";
import { type Grant, type GrantPart, grantOf, openSettlements, type Settlements } from "./grants.ts";
import { heartbeat, sweep } from "./holders.ts";
import { type KeySpend, NOTHING_SPENT, spentIn } from "./key-spend.ts";
import { limitError, usedUp } from "./limit-errors.ts";
import { type OutageMetrics, openOutage, outageMetrics } from "./outage.ts";
import { type Order, Rounds } from "./rounds.ts";

/** `recorded`: the call leaves a record, which removes its reservation. */
type LimitedCall = { id: string; key: ClientKey; admittedAt: Date; recorded: boolean };

export type Limiter = {
  /**
   * Admits a call and reserves its maximum usage, or resolves with the error for the client. A key without limits costs
   * nothing: no query is made, and `demandOf` is not called.
   */
  reserve(call: LimitedCall, demandOf: () => LimitDemand): Grant | Promise<Grant | GatewayError>;
  /** Last known spend of keys with a budget. */
  spend(): KeySpend;
  /** The first attempt to reach the database has ended. Until then limits are counted here. */
  begun: Promise<void>;
  close(): Promise<void>;
};

export type LimiterOptions = Ambient & {
  databaseUrl: string;
  metrics: Registry;
  /** The database is away once calls wait for it and it has answered nothing for this time. */
  limitsAwayAfterMs: number;
  /** Resolves when the records of all calls that have ended are stored. */
  recorded: () => Promise<void>;
  order?: Order;
  /** The last known spend of keys. */
  spend?: KeySpend | undefined;
};

const POOL = {
  name: "limits",
  /** If Postgres crashes, running calls still count in the process that runs them, and records are kept elsewhere. */
  commitsLate: true,
  max: 4,
  statementTimeoutMs: 4000,
  lockTimeoutMs: 4000,
  /** Long enough for a busy server that answers other queries: it is asked, so that gateways count together. */
  deadlineMs: 5000,
};

export const UNLIMITED: Grant = { settle: () => null, release: async () => undefined };

/** Enforces keys' limits together with the other gateways on the database, and alone while it is away. */
export function openLimiter(options: LimiterOptions): Limiter {
  const { clock, log } = options;
  const holder = newId();
  const { query, close } = deadlinePool(options.databaseUrl, POOL);
  const contact = openContact({ clock, log, awayAfterMs: options.limitsAwayAfterMs });
  const metrics = outageMetrics(options.metrics, () => !contact.reachable());
  const learned = { replicas: 1, spend: options.spend ?? NOTHING_SPENT };
  const replicas = () => learned.replicas;
  const rounds = new Rounds({ query, holder, contact, replicas, order: options.order });
  const settlements = openSettlements(rounds);
  const accounts = openAccounts({
    query,
    holder,
    clock,
    rounds,
    spentIn: (accountId, period) => spentIn(learned.spend, accountId, period),
  });
  const outage = openOutage({ ...options, query, holder, accounts, metrics, learned });
  const heartbeats = contact.keep({
    async beat() {
      const { alive, upMs } = await query((sql) => heartbeat(sql, holder));
      learned.replicas = alive;
      // Before calls are booked again, the database learns what was admitted without it.
      await outage.settle();
      return upMs;
    },
    async afterwards(isSteady) {
      await settlements.retry();
      outage.afterwards();
      await accounts.releaseIdle();
      if (isSteady) await query((sql) => sweep(sql, holder, settlements.running()));
    },
  });

  const deps = { accounts, settlements, metrics };
  return {
    reserve: (call, demandOf) => (isLimited(call.key) ? admitted(deps, call, demandOf()) : UNLIMITED),
    spend: () => learned.spend,
    begun: heartbeats.begun,
    async close() {
      heartbeats.stop();
      // No one waits for the end of a call with room, so a call without a record would keep its reservation for ever.
      await settlements.retry();
      await query((sql) => sql`delete from limit_holders where holder = ${holder}`).catch(() => undefined);
      await close(1);
    },
  };
}

type AdmitDeps = { accounts: Accounts; settlements: Settlements; metrics: OutageMetrics };

/** A call counts in all of its accounts, or in none. */
async function admitted(
  { accounts, settlements, metrics }: AdmitDeps,
  { id, key, admittedAt, recorded }: LimitedCall,
  demand: LimitDemand,
): Promise<Grant | GatewayError> {
  settlements.begin(id);
  const startedAt = admittedAt.toISOString();
  const asked = limitedKeys(key).map(async (limited): Promise<GrantPart | GatewayError> => {
    const { limits } = limited;
    const account = accounts.of(limited, admittedAt);
    const admission = await account.admit({ callId: id, startedAt, limits, demand });
    if (admission === null) return usedUp();
    if ("refusal" in admission) return limitError(admission.refusal, demand, { key: limited, admittedAt });
    return { account, call: admission };
  });
  const answers = await Promise.all(asked);
  const parts = answers.flatMap((answer) => (answer instanceof GatewayError ? [] : [answer]));
  const grant = grantOf(settlements, id, { parts, recorded });
  const refusal = answers.find((answer) => answer instanceof GatewayError);
  if (refusal) await grant.release();
  else if (parts.some(({ call }) => !call.booked)) metrics.admittedAlone();
  return refusal ?? grant;
}
