import { type FileHandle, open, rename } from "node:fs/promises";
import type { PeriodName } from "#shared/admin/budgets.ts";
import type { Ambient } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { errorFields } from "#shared/log.ts";
import { readSecretFile } from "#shared/secret-file.ts";
import { VERSION } from "#shared/version.ts";
import { inPico, type KeySpend } from "../limits/key-spend.ts";
import type { SealContext, Sealer } from "../seal.ts";
import type { DirectoryRows } from "./load-directory.ts";

/** The directory as the database had it at `takenAtMs` (milliseconds since 1970), and what keys had spent. */
type Snapshot = { takenAtMs: number; rows: DirectoryRows; spend: KeySpend };

/** Why there is no snapshot to start with. */
export type SnapshotFault = "off" | "missing" | "too_old" | "other_version" | "unreadable";

export type SnapshotFile = {
  found: Snapshot | SnapshotFault;
  /** Writes a new snapshot soon, together with changes that follow at once. Never throws. */
  keep(rows: DirectoryRows): void;
  /** When the file was last written or tried to be, by the clock's monotonic time; -Infinity: not yet. */
  writtenAtMs(): number;
  /** Writes what is still to be written. */
  close(): Promise<void>;
};

export type SnapshotOptions = Ambient & {
  file: string;
  sealer: Sealer;
  /** An older one is not used; 0: none is used or written. */
  secondsMax: number;
  /** Data that is written besides the directory. */
  spend(): KeySpend;
};

/** The sealed content: `Snapshot` as JSON, with the program's version. */
type Stored = {
  version: string;
  takenAtMs: number;
  rows: DirectoryRows;
  spend: { atMs: number; keys: [id: string, usd: Record<PeriodName, string>][] };
};

const BELONGING: SealContext = { orgId: DEFAULT_ORG, purpose: "directory" };
/** Changes that come in a row are written once. */
const GATHER_MS = 1000;

/** The last known directory in a file, sealed with the master key: a gateway can start from it while Postgres is away. */
export function openSnapshot(options: SnapshotOptions): SnapshotFile {
  const { clock, log } = options;
  let next: DirectoryRows | null = null;
  let timer: Timer | undefined;
  let writing = Promise.resolve();
  let writtenAtMs = Number.NEGATIVE_INFINITY;

  async function write(): Promise<void> {
    const rows = next;
    next = null;
    if (!rows) return;
    writtenAtMs = clock.monotonicMs();
    try {
      await replaceFile(options.file, sealed(options, rows));
    } catch (error) {
      log.warn(errorFields(error), "the snapshot of the configuration cannot be written");
    }
  }

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  };
  return {
    found: readSnapshot(options),
    keep(rows) {
      if (options.secondsMax === 0) return;
      next = rows;
      timer ??= setTimeout(() => void flush(), GATHER_MS);
      timer.unref();
    },
    writtenAtMs: () => writtenAtMs,
    close: flush,
  };
}

function sealed({ sealer, spend, clock }: SnapshotOptions, rows: DirectoryRows): string {
  const { atMs, byKey } = spend();
  const stored: Stored = {
    version: VERSION,
    takenAtMs: clock.now().getTime(),
    rows,
    spend: {
      atMs,
      keys: [...byKey].map(([id, { day, week, month, quarter }]) => [
        id,
        { day: `${day}`, week: `${week}`, month: `${month}`, quarter: `${quarter}` },
      ]),
    },
  };
  return sealer.seal(JSON.stringify(stored), BELONGING);
}

/** The file is the old one or the new one, never a part. */
async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.tmp-${process.pid}`;
  let handle: FileHandle | null = null;
  try {
    handle = await open(temporary, "w", 0o600);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle?.close();
  }
  await rename(temporary, file);
}

function readSnapshot({ file, sealer, secondsMax, clock, log }: SnapshotOptions): Snapshot | SnapshotFault {
  if (secondsMax === 0) return "off";
  try {
    const text = readSecretFile(file);
    if (text === null) return "missing";
    const opened = sealer.open(text, BELONGING);
    if (!opened) return "unreadable";
    // Sealed by this program, with its master key; another version may have other members.
    const stored = JSON.parse(opened.reveal()) as Stored;
    if (stored.version !== VERSION) return "other_version";
    if (clock.now().getTime() - stored.takenAtMs > secondsMax * 1000) return "too_old";
    return { takenAtMs: stored.takenAtMs, rows: stored.rows, spend: spendOf(stored.spend) };
  } catch (error) {
    log.warn(errorFields(error), "the snapshot of the configuration cannot be read");
    return "unreadable";
  }
}

const spendOf = ({ atMs, keys }: Stored["spend"]): KeySpend => ({
  atMs,
  byKey: new Map(keys.map(([id, usd]) => [id, inPico(usd)])),
});
