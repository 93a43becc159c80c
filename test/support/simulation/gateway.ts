import type { KeyLimits } from "#drizzle/schema/keys.ts";
import { decideAway, leaseUsd } from "#gateway/limits/away.ts";
import { decideLimits, type LimitState } from "#gateway/limits/decide.ts";
import { missingFrom } from "#gateway/recorder/mark-file.ts";
import { orphanSource } from "#gateway/recorder/orphan-segment.ts";
import { ownRows } from "#gateway/recorder/own-segment.ts";
import type { Source } from "#gateway/recorder/postgres-writer.ts";
import type { SimulatedDatabase } from "./database.ts";
import { type DiskFile, diskFile } from "./disk.ts";

/** A record as it is spooled. */
type SpooledCall = { id: string; state: "interrupted" | "ok"; usd: string };

export type Spool = {
  /** Files of processes that died. */
  orphans: DiskFile[];
  /** Records that a mark promised and its file did not have. */
  missing: number;
};

/** Little: most courses of events reach it. */
export const BUDGET = "30";
const PERIOD = { from: "2026-01-01", to: "2026-02-01" };
const ROWS = 3;

/** What happens to a message to the database: it arrives, it is lost, or its answer is. */
export type Fate = "arrives" | "lost" | "answer lost";

type CallFacts = { costs: bigint; fate: Fate; nowMs: number };

type Running = { id: string; costs: bigint };

/** The other gateway of the world counts by itself, too. */
const REPLICAS = 2;
const NOTHING: LimitState = { nowMs: 0, slots: [], spent: 0n, held: 0n, calls: 0 };

/** Records that the mark of a file promises and the file does not have. */
function missingIn(file: DiskFile): number {
  const mark = file.mark();
  if (mark === null) return 0;
  const { first, last } = file.segment.settlementRange();
  const settled = last === 0 ? 0 : last - first + 1;
  const { settlements, intents } = missingFrom(mark, {
    settlements: settled,
    last,
    intents: file.segment.intentCount(),
  });
  return settlements + intents;
}

/** One process of the gateway, from start to death. Everything durable is in its files and in the database. */
export function simulatedGateway(
  { holder, whenAway }: { holder: string; whenAway: "local" | "refuse" },
  database: SimulatedDatabase,
  spool: Spool,
) {
  const limits: KeyLimits = { budget_usd: BUDGET, when_away: whenAway };
  let lease = 0n;
  /** As it last read it; null before that. */
  let known: LimitState | null = null;
  /** What it admitted by itself and has not written to the database: bounds, and costs once they are known. */
  const admitted = new Map<string, { usd: bigint; ended: boolean }>();
  const own = diskFile();
  const rows = ownRows(own.segment, own.writeMark, []);
  const running: Running[] = [];
  let adopted: { file: DiskFile; source: Source }[] = [];

  const text = (call: SpooledCall): string => JSON.stringify(call);

  function adopt(): void {
    for (const file of spool.orphans.splice(0)) {
      spool.missing += missingIn(file);
      adopted.push({ file, source: orphanSource(file.segment, { write: file.writeMark }, () => 0) });
    }
  }

  /** Moves a batch to the database. Returns whether there was one. */
  function deliver(source: Pick<Source, "take" | "drop">, fate: Fate): boolean {
    const batch = source.take(ROWS);
    if (batch.length === 0 || fate === "lost" || database.isAway) return batch.length > 0;
    for (const row of batch) {
      const { id, state, usd }: SpooledCall = JSON.parse(row.text);
      database.insert(id, { state, usd: BigInt(usd) });
    }
    if (fate === "arrives") source.drop(batch);
    return true;
  }

  const admittedUsd = (): bigint => [...admitted.values()].reduce((sum, { usd }) => sum + usd, 0n);

  /** Writes what it admitted by itself, before anything else, and leases another slice. */
  function back(nowMs: number): LimitState {
    for (const [id, { usd, ended }] of admitted) {
      // Its record may have arrived already.
      if (!database.records.has(id)) database.reserve(id, usd, holder);
      if (ended) database.end(id, usd);
    }
    admitted.clear();
    const state = database.state(nowMs, holder);
    lease = leaseUsd(limits, state);
    database.lease(holder, lease);
    known = { ...state, held: state.held + lease };
    return known;
  }

  /** Whether a call may pass without the database. */
  function admitAlone(id: string, usd: bigint, nowMs: number): boolean {
    if (known === null) return false;
    const own = { ...NOTHING, nowMs, held: admittedUsd() };
    const whole = { ...known, nowMs, held: known.held - lease + own.held };
    const demand = { tokens: 0, usd, minimumUsd: usd };
    const state = { whole, own };
    const decision = decideAway({
      limits,
      period: PERIOD,
      demand,
      state,
      lease: { usd: lease, replicas: REPLICAS },
    });
    if (decision === null || "refusal" in decision) return false;
    admitted.set(id, { usd: decision.reservation.usd, ended: false });
    database.admittedAway(id, holder);
    return true;
  }

  /** Whether a call may pass; the database reserves its bound. */
  function admit(id: string, usd: bigint, { fate, nowMs }: CallFacts): boolean {
    if (fate === "lost") return false;
    const demand = { tokens: 0, usd, minimumUsd: usd };
    const decision = decideLimits({ limits, period: PERIOD, state: back(nowMs), demand });
    if ("refusal" in decision) return false;
    database.reserve(id, decision.reservation.usd, holder);
    // Whether it was written is then unknown: the call is refused, and the sweep frees what was reserved.
    return fate !== "answer lost";
  }

  return {
    holder,
    own,
    running,
    /** Admits a call as the limiter does, and writes its intent; false if it is refused. */
    begin(id: string, usd: bigint, facts: CallFacts): boolean {
      const passes = database.isAway ? admitAlone(id, usd, facts.nowMs) : admit(id, usd, facts);
      if (!passes) return false;
      rows.write([{ kind: "intent", id, text: text({ id, state: "interrupted", usd: "0" }) }]);
      running.push({ id, costs: facts.costs });
      return true;
    },
    /** Ends a running call: its record is durable before its client has the whole answer. */
    end(index: number, fate: Fate): string | null {
      const [call] = running.splice(index, 1);
      if (!call) return null;
      const { id, costs } = call;
      rows.write([{ kind: "settlement", id, text: text({ id, state: "ok", usd: String(costs) }), at: 0 }]);
      if (admitted.has(id)) admitted.set(id, { usd: costs, ended: true });
      else if (fate !== "lost" && !database.isAway) database.end(id, costs);
      return id;
    },
    deliverOwn: (fate: Fate) => deliver(rows.pending, fate),
    deliverAdopted(fate: Fate): boolean {
      const more = adopted.map(({ source }) => deliver(source, fate)).includes(true);
      adopted = adopted.filter(({ source }) => source.backlog() > 0);
      return more;
    },
    sweep: () => rows.sweep(),
    adopt,
    /** Dies: its files, and those that it had adopted, wait for the next. */
    die(): void {
      for (const file of [own, ...adopted.map(({ file }) => file)]) {
        file.reopen();
        spool.orphans.push(file);
      }
    },
  };
}

export type SimulatedGateway = ReturnType<typeof simulatedGateway>;
