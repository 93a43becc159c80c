import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { newId } from "#shared/ids.ts";
import { fits } from "#shared/schema.ts";

/** The result of recovering a damaged segment; kept beside its files as `<segment>.damaged.json`. */
const DamageReport = Type.Object({
  version: Type.Literal(1),
  /** When it was recovered (RFC 3339). */
  at: Type.String(),
  /** Records taken over into a new segment. */
  recovered: Type.Integer(),
  /** Lost records: all of them if `lost_known`, else those that left a trace. */
  lost: Type.Integer(),
  lost_known: Type.Boolean(),
});
export type DamageReport = Static<typeof DamageReport>;

/** The files of a recovery. `stem` is the path of the segment without extension. */
export const filesOf = (stem: string) => ({
  /** The new segment, while it is being written, and once it is complete. */
  unfinished: `${stem}.recovering`,
  recovered: `${stem}.recovered`,
  report: `${stem}.damaged.json`,
  /** The damaged segment, for people to look at. */
  kept: `${stem}.damaged.db`,
});

/** Whether a recovery was completed and only its files remain to be renamed. */
export const isRecovered = (stem: string): boolean => existsSync(filesOf(stem).recovered);

/**
 * Keeps the damaged files under a clear name and puts the recovered segment in their place, under a name of its own.
 * Repeats what a crash interrupted. The caller holds the lock of the damaged one.
 */
export function finishRecovery(stem: string): DamageReport {
  const { kept, recovered, report } = filesOf(stem);
  rmSync(`${stem}.db-shm`, { force: true });
  // The log first: beside a new file, SQLite would take it for that file's.
  for (const [from, to] of [
    [`${stem}.db-wal`, `${kept}-wal`],
    [`${stem}.mark`, `${stem}.damaged.mark`],
    [`${stem}.db`, kept],
    [recovered, join(dirname(stem), `segment-${newId()}.db`)],
  ] as const)
    if (existsSync(from)) renameSync(from, to);
  rmSync(`${stem}.lock`, { force: true });
  return readReport(report) ?? { version: 1, at: "", recovered: 0, lost: 0, lost_known: false };
}

export function readReport(path: string): DamageReport | null {
  try {
    const read: unknown = JSON.parse(readFileSync(path, "utf8"));
    return fits(DamageReport, read) ? read : null;
  } catch {
    return null;
  }
}

/** For people: "3", "unknown", or "at least 3". */
export const lostText = ({ lost, lost_known }: Pick<DamageReport, "lost" | "lost_known">): string =>
  lost_known ? String(lost) : lost === 0 ? "an unknown number" : `at least ${lost}`;
