import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newId } from "#shared/ids.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { Synced } from "./head-pool.ts";
import { type Heads, makeHeads } from "./heads.ts";
import type { SpoolFileOptions } from "./spool-file.ts";
import { takeLock } from "./spool-lock.ts";
import { openTurnLog, type TurnLog } from "./turn-log.ts";

/** The spool file that this process writes; `leave` closes it, and deletes it when nothing is in it. */
export type Spool = { path: string; headPath: string | null; file: TurnLog; leave(): Promise<void> };

type SpoolOptions = Omit<SpoolFileOptions, "path" | "create"> & {
  directory: string;
  log: Log;
  synced: Synced;
};

/** This process's own spool file. @throws Error with its place and what to do. */
export function createSpool(options: SpoolOptions): Spool {
  try {
    return newSpool(options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The spool in ${options.directory} cannot be written: ${why}. Make room there, or set SPOOL_DIR.`,
      { cause: error },
    );
  }
}

/** Makes a spool file, under a lock that is held before the file can be seen. */
function newSpool({ directory, sync, bytesMax, log, synced }: SpoolOptions): Spool {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stem = join(directory, `heads-${newId()}`);
  const path = `${stem}.db`;
  const lock = takeLock(`${stem}.lock`);
  if (!lock) throw new Error("the lock of a new spool file is taken");
  const heads = sync === "normal" ? headsOf(path, log) : null;
  const free = () => {
    rmSync(`${stem}.lock`, { force: true });
    lock.release();
  };
  const file = orElse(
    () => openTurnLog({ path, sync, bytesMax, create: true, synced, ...(heads && { heads }) }),
    () => {
      heads?.remove();
      rmSync(path, { force: true });
      free();
    },
  );
  return {
    path,
    headPath: heads?.path ?? null,
    file,
    leave: async () => {
      if (file.isEmpty()) {
        await file.destroy();
        free();
      } else {
        file.close();
        lock.release();
      }
    },
  };
}

/** What `make` gives; where it throws, `clear` takes away what was made before it. */
function orElse<T>(make: () => T, clear: () => void): T {
  try {
    return make();
  } catch (error) {
    clear();
    throw error;
  }
}

/** Null where the file has to do without. */
function headsOf(path: string, log: Log): Heads | null {
  try {
    return makeHeads(path);
  } catch (error) {
    log.info(
      { ...errorFields(error) },
      "the spool is written without heads, which takes more of the processor",
    );
    return null;
  }
}
