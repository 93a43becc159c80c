import { existsSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { takeLock } from "#shared/file-lock.ts";
import { newId } from "#shared/ids.ts";
import { segmentNames } from "../orphans.ts";
import { type DamageReport, filesOf, finishRecovery } from "./damage-report.ts";
import { recoverSegment } from "./recover.ts";

/** Recovers an unused segment in place; the damaged one is kept, and the next gateway stores it. Null: it is in use. */
export function recoverInPlace(directory: string, name: string, now: string): DamageReport | null {
  const stem = join(directory, name);
  const lock = takeLock(`${stem}.lock`);
  if (!lock) return null;
  try {
    recoverSegment({ stem, running: [], now });
    return finishRecovery(stem);
  } finally {
    lock.release();
  }
}

/**
 * Copies what can be read in a segment's file, which may lie anywhere, into a new segment of the spool. Records that
 * Postgres has already are not stored twice. @throws Error if there is no such file, or it is a living segment.
 */
export function recoverFile(file: string, directory: string, now: string): DamageReport {
  if (!file.endsWith(".db") || !existsSync(file))
    throw new Error(`${file} is no spool file; expected a .db file.`);
  const name = basename(file, ".db");
  if (existsSync(file.replace(/\.db$/, ".lock")) && segmentNames(directory).has(name))
    throw new Error(`${file} is a part of the spool. Recover it without naming it.`);
  const stem = join(directory, `segment-${newId()}`);
  const lock = takeLock(`${stem}.lock`);
  try {
    const { report } = recoverSegment({ stem, from: file.replace(/\.db$/, ""), running: [], now });
    finishRecovery(stem);
    rmSync(filesOf(stem).report, { force: true });
    return report;
  } finally {
    lock?.release();
  }
}
