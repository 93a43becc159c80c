import type { KeyLimits } from "#drizzle/schema/keys.ts";
import type { Clock } from "#shared/clock.ts";
import type { LimitDemand, LimitState, Reservation } from "../../limits/decide.ts";
import { drawFromLease, type LimitLease, leaseAllowance, leaseUsd } from "../../limits/lease.ts";

/** A key's lease in this process, and the calls admitted on it. */
export type LeaseBalance = {
  /** Usage of the calls on the lease, in addition to the database's figures. */
  used(): { usd: bigint; calls: number };
  /** Renews the lease in memory; returns what the caller must write to the database. */
  renew(limits: KeyLimits, state: LimitState, replicas: number): { usd: bigint; calls: number };
  /** Admits a call on the lease; null if it does not fit. */
  draw(
    callId: string,
    call: { limits: KeyLimits; demand: LimitDemand; slotsFree: number },
  ): Reservation | null;
  /** A call on the lease has ended. */
  ended(callId: string): void;
};

const MINUTE_MS = 60_000;
/** A call on the lease counts this long after its end, until its record is surely in the database. */
const AFTER_MS = 10_000;

export function createLeaseBalance(clock: Clock): LeaseBalance {
  const calls = new Map<string, { usd: bigint; endedMs: number | null }>();
  let lease: LimitLease = { usd: 0n, requests: 0, tokens: 0 };
  let allowedAtMs = Number.NEGATIVE_INFINITY;

  function used(): { usd: bigint; calls: number } {
    const nowMs = clock.monotonicMs();
    const sum = { usd: 0n, calls: 0 };
    for (const [callId, { usd, endedMs }] of calls) {
      if (endedMs !== null && nowMs - endedMs > AFTER_MS) {
        calls.delete(callId);
        continue;
      }
      sum.usd += usd;
      if (endedMs === null) sum.calls += 1;
    }
    return sum;
  }

  return {
    used,
    renew(limits, state, replicas) {
      const nowMs = clock.monotonicMs();
      lease = { ...lease, usd: leaseUsd(limits, state) };
      // At most once a minute: a flapping database would otherwise admit more than the limit.
      if (nowMs - allowedAtMs >= MINUTE_MS) {
        allowedAtMs = nowMs;
        lease = { ...lease, ...leaseAllowance(limits, Math.max(1, replicas)) };
      }
      const held = used();
      return { usd: lease.usd + held.usd, calls: held.calls };
    },
    draw(callId, { limits, demand, slotsFree }) {
      const rest = drawFromLease(lease, { limits, demand, slotsFree: slotsFree - used().calls });
      if (!rest) return null;
      lease = rest.lease;
      calls.set(callId, { usd: rest.booking.usd, endedMs: null });
      return rest.booking;
    },
    ended(callId) {
      const call = calls.get(callId);
      if (call) call.endedMs = clock.monotonicMs();
    },
  };
}
