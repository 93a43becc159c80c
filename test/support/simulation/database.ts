import type { LimitState } from "#gateway/limits/decide.ts";

/** A stored record: how its call ended, and what it cost. */
type StoredRecord = { state: string; usd: bigint };

type Hold = { usd: bigint; holder: string; ended: boolean };

/** How long a process may be silent before its reservations are freed (holders.ts). */
const DEAD_MS = 40_000;
/** The same for its slice of the budget, which is for outages. */
const LEASE_MS = 3_600_000;

/** Postgres, as far as records and budgets go: each method is one transaction. */
export function simulatedDatabase() {
  const records = new Map<string, StoredRecord>();
  const holds = new Map<string, Hold>();
  const leases = new Map<string, bigint>();
  const seen = new Map<string, number>();
  const silentMs = (holder: string, nowMs: number) => nowMs - (seen.get(holder) ?? Number.NEGATIVE_INFINITY);
  /** Costs of records whose reservation had been freed because their process was silent for too long. */
  let freedUsd = 0n;
  const freed = new Set<string>();
  /** Calls that were admitted without the database, by the process whose slice they used. */
  const unwritten = new Map<string, string>();

  return {
    /** Nothing reaches it meanwhile. */
    isAway: false,
    records,
    freedUsd: () => freedUsd,
    spent: () => [...records.values()].reduce((sum, { usd }) => sum + usd, 0n),
    /** As `holder` reads it: its own slice is not in its way. */
    state(nowMs: number, holder: string): LimitState {
      const of = (wanted: boolean) =>
        [...holds.values()].filter(({ ended }) => ended === wanted).reduce((sum, { usd }) => sum + usd, 0n);
      let held = of(false);
      for (const [other, usd] of leases) if (other !== holder) held += usd;
      return { nowMs, slots: [], spent: this.spent() + of(true), held, calls: holds.size };
    },
    lease(holder: string, usd: bigint): void {
      leases.set(holder, usd);
    },
    /** A call that `holder` admitted by itself. */
    admittedAway(callId: string, holder: string): void {
      unwritten.set(callId, holder);
    },
    reserve(callId: string, usd: bigint, holder: string): void {
      holds.set(callId, { usd, holder, ended: false });
    },
    end(callId: string, usd: bigint): void {
      const hold = holds.get(callId);
      if (hold) holds.set(callId, { ...hold, usd, ended: true });
    },
    /** As the recorder's statement does: what is stored stays, and a new record replaces its call's hold. */
    insert(callId: string, record: StoredRecord): void {
      if (records.has(callId)) return;
      records.set(callId, record);
      if (freed.has(callId)) freedUsd += record.usd;
      holds.delete(callId);
    },
    heartbeat(holder: string, nowMs: number): void {
      seen.set(holder, nowMs);
    },
    /** Frees reservations of silent processes, except those of ended calls: their cost is known. */
    sweep(nowMs: number): void {
      for (const [callId, { holder, ended }] of [...holds]) {
        if (ended || silentMs(holder, nowMs) <= DEAD_MS) continue;
        holds.delete(callId);
        freed.add(callId);
      }
      for (const holder of [...leases.keys()]) {
        if (silentMs(holder, nowMs) <= LEASE_MS) continue;
        leases.delete(holder);
        for (const [callId, by] of unwritten) if (by === holder) freed.add(callId);
      }
    },
  };
}

export type SimulatedDatabase = ReturnType<typeof simulatedDatabase>;
