import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { takeLock } from "#shared/file-lock.ts";
import { readMark } from "../mark-file.ts";
import { segmentNames } from "../orphans.ts";
import { type DamageReport, readReport } from "./damage-report.ts";
import { silentDamage, sizeOf } from "./examine.ts";
import { copyRows, lossOf, type RowSink } from "./recover.ts";

/** A file of the spool, as far as it can be read without changing it. */
export type SpoolFile = {
  name: string;
  bytes: number;
} & (
  | { state: "in use" }
  /** Records of a dead process that wait for the next gateway. */
  | ({ state: "waiting" | "damaged"; why: string | null } & Contents)
  /** The damaged original of a segment that was recovered. */
  | { state: "kept"; report: DamageReport | null }
);

type Contents = { settled: number; running: number; parked: number; lost: number; lost_known: boolean };

/** Everything in the spool directory. Changes nothing, and may run beside gateways. */
export function inspectSpool(directory: string): SpoolFile[] {
  const kept = readdirSync(directory).filter((name) => name.endsWith(".damaged.db"));
  return [
    ...[...segmentNames(directory)].sort().flatMap((name) => inspectSegment(directory, name)),
    ...kept.sort().map((name): SpoolFile => {
      const report = readReport(join(directory, name.replace(/\.db$/, ".json")));
      return { name, bytes: sizeOf(join(directory, name)), state: "kept", report };
    }),
  ];
}

function inspectSegment(directory: string, name: string): SpoolFile[] {
  const stem = join(directory, name);
  const path = `${stem}.db`;
  if (!existsSync(path)) return [];
  const facts = { name: `${name}.db`, bytes: sizeOf(path) + sizeOf(`${path}-wal`) };
  const lock = takeLock(`${stem}.lock`);
  if (!lock) return [{ ...facts, state: "in use" }];
  try {
    const contents = contentsOf(path);
    const why = silentDamage(path) ?? (contents.lost > 0 ? "records are missing" : null);
    return [{ ...facts, state: why === null ? "waiting" : "damaged", why, ...contents }];
  } finally {
    lock.release();
  }
}

/** Counts whole rows, without SQLite, which would change the files. */
function contentsOf(path: string): Contents {
  let parked = 0;
  const sink: RowSink = {
    addIntent: () => undefined,
    addSettlement: () => undefined,
    park: () => {
      parked += 1;
    },
  };
  const mark = readMark(path);
  const { seqs, intents } = copyRows(sink, path, { mark, running: new Set() });
  return { settled: seqs.size, running: intents, parked, ...lossOf(mark, seqs, intents) };
}
