import type { KeyLimits } from "#drizzle/schema/keys.ts";
import type { Clock } from "#shared/clock.ts";
import type { LimitDemand, LimitState, Reservation } from "../../limits/decide.ts";
import { drawFromLease, type Lease, leaseAllowance, leaseUsd } from "../../limits/lease.ts";

/** A key's lease in this process, and the calls that it let through on it. */
export type LeaseBalance = {
  /** What the calls on the lease hold, beside what the database knows. */
  used(): { usd: bigint; calls: number };
  /** The lease anew, from how the key stands; resolves nothing, so the caller books it. Returns what is to be booked. */
  renew(limits: KeyLimits, standing: LimitState, replicas: number): { usd: bigint; calls: number };
  /** Lets a call through on the lease; null where it does not fit. */
  draw(callId: string, call: { limits: KeyLimits; ask: LimitDemand; slotsFree: number }): Reservation | null;
  /** A call on the lease has ended. */
  ended(callId: string): void;
};

const MINUTE_MS = 60_000;
/** A call on the lease counts for so long after its end: until its record is surely in the database. */
const AFTER_MS = 10_000;

export function createLeaseBalance(clock: Clock): LeaseBalance {
  const calls = new Map<string, { usd: bigint; endedMs: number | null }>();
  let lease: Lease = { usd: 0n, requests: 0, tokens: 0 };
  let allowedAtMs = Number.NEGATIVE_INFINITY;

  function own(): { usd: bigint; calls: number } {
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
    used: own,
    renew(limits, standing, replicas) {
      const nowMs = clock.monotonicMs();
      lease = { ...lease, usd: leaseUsd(limits, standing) };
      // Not oftener than a minute, or a database that comes and goes would let through more than the limit.
      if (nowMs - allowedAtMs >= MINUTE_MS) {
        allowedAtMs = nowMs;
        lease = { ...lease, ...leaseAllowance(limits, Math.max(1, replicas)) };
      }
      const held = own();
      return { usd: lease.usd + held.usd, calls: held.calls };
    },
    draw(callId, { limits, ask, slotsFree }) {
      const rest = drawFromLease(lease, { limits, ask, slotsFree: slotsFree - own().calls });
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
