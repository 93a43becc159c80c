import { renameSync, rmSync, writeFileSync } from "node:fs";
import { type Mark, missingFrom, readMark } from "../mark-file.ts";
import { OF_THE_DEAD, openSegment, type Segment } from "../segment.ts";
import { type DamageReport, filesOf } from "./damage-report.ts";
import { foundRows } from "./found-rows.ts";
import { idOf } from "./row-of.ts";

export type RecoveryOrder = {
  /** Path of the segment without extension. */
  stem: string;
  /** The files to read, where they are another segment's; a path without extension. */
  from?: string;
  /** Calls that are still under way: their intents are returned, and not written. */
  running: readonly string[];
  /** RFC 3339. */
  now: string;
};

/** `intents` are those of calls that are still under way. */
export type RecoveryResult = { report: DamageReport; intents: { id: string; text: string }[] };

/**
 * Writes every whole row of a damaged segment into a new one beside it, `<stem>.recovered`, with a report. Can be
 * repeated after a crash. No one else may use the segment, and SQLite must not have it open in this process.
 */
export function recoverSegment({ stem, from = stem, running, now }: RecoveryOrder): RecoveryResult {
  const { unfinished, recovered, report: reportFile } = filesOf(stem);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(unfinished + suffix, { force: true });
  const segment = openSegment({ ...OF_THE_DEAD, path: unfinished, create: true });
  const path = `${from}.db`;
  const mark = readMark(path);
  let found: Found = { seqs: new Set(), intents: 0, stillRunning: [] };
  try {
    segment.transaction(() => {
      found = copyRows(segment, path, { mark, running: new Set(running) });
    });
  } finally {
    segment.close();
  }
  const { seqs, intents, stillRunning } = found;
  const loss = lossOf(mark, seqs, intents + stillRunning.length);
  const report: DamageReport = { version: 1, at: now, recovered: seqs.size + intents, ...loss };
  writeFileSync(reportFile, `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, recovered);
  return { report, intents: stillRunning };
}

/** Where found rows go. */
export type RowSink = Pick<Segment, "addIntent" | "addSettlement" | "park">;

type Expected = { mark: Mark | null; running: ReadonlySet<string> };

type Found = {
  /** Numbers that the settlements had. */
  seqs: Set<number>;
  intents: number;
  stillRunning: { id: string; text: string }[];
};

/** Settlements first: an intent counts only if its call has none. Rows are numbered densely again. */
export function copyRows(segment: RowSink, path: string, { mark, running }: Expected): Found {
  const { seqs, ended } = copySettlements(segment, path, mark?.sent ?? 0);
  const begun = new Set<number>();
  const stillRunning: Found["stillRunning"] = [];
  let intents = 0;
  for (const row of foundRows(path)) {
    if (row.table !== "intents" || begun.has(row.seq) || row.seq < (mark?.firstRunning ?? 0)) continue;
    begun.add(row.seq);
    const id = idOf(row.text);
    if (id === null || ended.has(id)) continue;
    if (running.has(id)) stillRunning.push({ id, text: row.text });
    else segment.addIntent(++intents, row.text);
  }
  return { seqs, intents, stillRunning };
}

/** Copies parked rows, and settlements after `sent`. Returns their numbers, and the calls that they end. */
function copySettlements(segment: RowSink, path: string, sent: number) {
  const seqs = new Set<number>();
  const ended = new Set<string>();
  const parked = new Set<string>();
  for (const row of foundRows(path)) {
    if (row.table === "parked" && !parked.has(row.text)) {
      parked.add(row.text);
      segment.park(row);
    } else if (row.table === "settlements" && row.seq > sent && !seqs.has(row.seq)) {
      seqs.add(row.seq);
      ended.add(idOf(row.text) ?? "");
      segment.addSettlement({ seq: seqs.size, text: row.text }, row.at);
    }
  }
  return { seqs, ended };
}

/** The lost records of a segment: what the mark promises and was not found, also if the call's intent was. */
export function lossOf(mark: Mark | null, seqs: ReadonlySet<number>, intents: number) {
  if (mark === null) return { lost: gapsIn(seqs), lost_known: false };
  const missing = missingFrom(mark, { settlements: seqs.size, last: lastOf(seqs), intents });
  return { lost: missing.settlements + missing.intents, lost_known: true };
}

function gapsIn(seqs: ReadonlySet<number>): number {
  let first = Number.POSITIVE_INFINITY;
  for (const seq of seqs) first = Math.min(first, seq);
  return seqs.size === 0 ? 0 : lastOf(seqs) - first + 1 - seqs.size;
}

function lastOf(seqs: ReadonlySet<number>): number {
  let last = 0;
  for (const seq of seqs) last = Math.max(last, seq);
  return last;
}
