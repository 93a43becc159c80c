import type { KeyLimits } from "#drizzle/schema/keys.ts";
import { Account } from "#gateway/limits/account.ts";
import type { AdmittedCall, AskingCall } from "#gateway/limits/admission.ts";
import { formatPico } from "#gateway/limits/money.ts";
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

/** `usd`: the most that the call may cost; `isBounded`: no less must be left of the budget. */
type CallFacts = { usd: bigint; isBounded: boolean; costs: bigint; fate: Fate; nowMs: number };

type Running = { call: AdmittedCall; costs: bigint };

/** The other gateway of the world counts by itself, too. */
const REPLICAS = 2;

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
  { holder, whenAway, startedMs }: { holder: string; whenAway: "local" | "refuse"; startedMs: number },
  database: SimulatedDatabase,
  spool: Spool,
) {
  const limits: KeyLimits = { budget_usd: BUDGET, when_away: whenAway };
  let nowMs = startedMs;
  let beatenMs = startedMs;
  const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
  const account = new Account(PERIOD, 0n, clock);
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

  /** A heartbeat: the database learns what was admitted without it, before anything else. */
  function back(): void {
    database.heartbeat(holder, nowMs);
    beatenMs = nowMs;
    const taken = account.unbooked.take();
    if (taken) database.lease(holder, taken.lease.usd);
    if (rows.pending.backlog() === 0) account.unbooked.stored(account.unbooked.count.spent);
  }

  /** A call passes without the database, or not. */
  function admitAlone(call: AskingCall): AdmittedCall | null {
    const admission = account.admitAlone(call, { replicas: REPLICAS, silentMs: nowMs - beatenMs });
    if (admission === null || "refusal" in admission) return null;
    database.admittedAway(call.callId, holder);
    return admission;
  }

  /** A call passes, or not; the database reserves its bound. */
  function admit(call: AskingCall, fate: Fate): AdmittedCall | null {
    if (fate === "lost") return null;
    back();
    const booking = account.plan([call], database.state(nowMs, holder));
    const [admitted] = booking.admitted;
    if (admitted) database.reserve(call.callId, admitted.reservation.usd, holder);
    if (booking.lease) database.lease(holder, booking.lease.usd);
    // Whether it was written is then unknown: the call is refused, and the sweep frees what was reserved.
    if (fate === "answer lost") return null;
    account.booked(booking);
    return admitted ?? null;
  }

  return {
    holder,
    own,
    running,
    /** Admits a call as the limiter does, and writes its intent; false if it is refused. */
    begin(id: string, { usd, isBounded, costs, fate, nowMs: atMs }: CallFacts): boolean {
      nowMs = atMs;
      const demand = { tokens: 0, usd, minimumUsd: isBounded ? usd : 1n };
      const asking = { callId: id, startedAt: clock.now().toISOString(), limits, demand };
      const call = database.isAway ? admitAlone(asking) : admit(asking, fate);
      if (!call) return false;
      rows.write([{ kind: "intent", id, text: text({ id, state: "interrupted", usd: "0" }) }]);
      const { usd: reserved } = call.reservation;
      running.push({ call, costs: costs < reserved ? costs : reserved });
      return true;
    },
    /** Ends a running call: its record is durable before its client has the whole answer. */
    end(index: number, fate: Fate): string | null {
      const [ended] = running.splice(index, 1);
      if (!ended) return null;
      const { call, costs } = ended;
      const id = call.callId;
      rows.write([{ kind: "settlement", id, text: text({ id, state: "ok", usd: String(costs) }), at: 0 }]);
      account.end(call, { usd: formatPico(costs), tokens: 0 });
      if (call.booked && fate !== "lost" && !database.isAway) database.end(id, costs);
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
