import { basename } from "node:path";
import { Worker } from "node:worker_threads";
import type { Ambient } from "#shared/clock.ts";
import type { FileLock } from "#shared/file-lock.ts";
import { errorFields } from "#shared/log.ts";
import { DamagedSegment } from "../row-sum.ts";
import { type DamageReport, filesOf, finishRecovery, lostText } from "./damage-report.ts";
import type { RecoveryOrder, RecoveryResult } from "./recover.ts";
import type { RecoveryAnswer } from "./recover-worker.ts";

type DamagedSegmentFiles = {
  /** Path without extension. */
  stem: string;
  lock: FileLock;
  /** Its calls that are still under way in this process. */
  running: readonly string[];
};

/** Since this process started. `lost` counts an unknown number as 1. */
export type DamageTotals = { files: number; recovered: number; lost: number };

export type Recoveries = {
  /** Takes over the lock. */
  start(files: DamagedSegmentFiles, why: unknown): void;
  /** Ends a recovery that a crash interrupted. */
  finish(files: Pick<DamagedSegmentFiles, "stem" | "lock">): void;
  totals(): DamageTotals;
  /** Cancels unfinished recoveries; the next start repeats them. */
  close(): void;
};

type Options = Ambient & {
  /** A recovered segment can be adopted. `intents` are those of calls that were still under way. */
  onRecovered: (intents: readonly { id: string; text: string }[]) => void;
};

const RETRY_MS = 30_000;

/** Our own words name no record; SQLite's are its code alone. */
const reasonOf = (why: unknown) => (why instanceof DamagedSegment ? { reason: why.message } : {});

/** Recovers damaged segments, one thread each, and reports the result. */
export function createRecoveries({ log, clock, onRecovered }: Options): Recoveries {
  const locks = new Map<string, FileLock>();
  const totals: DamageTotals = { files: 0, recovered: 0, lost: 0 };
  let closed = false;

  function count(stem: string, report: DamageReport): void {
    totals.files += 1;
    totals.recovered += report.recovered;
    totals.lost += report.lost_known ? report.lost : Math.max(1, report.lost);
    const facts = { recovered: report.recovered, lost: lostText(report), kept: basename(filesOf(stem).kept) };
    if (report.lost_known && report.lost === 0) log.warn(facts, "a damaged spool file was recovered");
    else log.error(facts, "records were lost in a damaged spool file");
  }

  function finish({ stem, lock }: Pick<DamagedSegmentFiles, "stem" | "lock">): void {
    count(stem, finishRecovery(stem));
    locks.delete(stem);
    lock.release();
  }

  async function recover(files: DamagedSegmentFiles): Promise<void> {
    const { stem, running } = files;
    try {
      const { intents } = await recoverAside({ stem, running, now: clock.now().toISOString() });
      if (closed) return;
      finish(files);
      onRecovered(intents);
    } catch (error) {
      if (closed) return;
      log.error(errorFields(error), "a damaged spool file cannot be recovered yet");
      setTimeout(() => void (closed || recover(files)), RETRY_MS).unref();
    }
  }

  return {
    start(files, why) {
      if (closed) return files.lock.release();
      log.error(
        { ...errorFields(why), ...reasonOf(why), file: basename(files.stem) },
        "a spool file is damaged: recovering what can be read",
      );
      locks.set(files.stem, files.lock);
      void recover(files);
    },
    finish,
    totals: () => totals,
    close() {
      closed = true;
      for (const lock of locks.values()) lock.release();
      locks.clear();
    },
  };
}

/** Recovers a segment on a thread of its own. Rejects if it cannot be recovered, such as on a full disk. */
function recoverAside(order: RecoveryOrder): Promise<RecoveryResult> {
  const { promise, resolve, reject } = Promise.withResolvers<RecoveryResult>();
  const worker = new Worker(new URL("./recover-worker.ts", import.meta.url));
  worker.unref();
  worker.on("error", reject);
  worker.on("message", (answer: RecoveryAnswer) => {
    if (answer.kind === "done") resolve(answer.result);
    else reject(new Error(answer.reason));
  });
  worker.postMessage(order);
  return promise.finally(() => void worker.terminate());
}
