import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newId } from "#shared/ids.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { type Head, makeHead } from "./head.ts";
import type { SpoolFileOptions } from "./spool-file.ts";
import { takeLock } from "./spool-lock.ts";
import { openTurnLog, type TurnLog } from "./turn-log.ts";

/** The spool file that this process writes; `leave` closes it, and deletes it when nothing is in it. */
export type Spool = { path: string; file: TurnLog; leave(): Promise<void> };

type SpoolOptions = Omit<SpoolFileOptions, "path" | "create"> & { directory: string; log: Log };

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
function newSpool({ directory, sync, bytesMax, log }: SpoolOptions): Spool {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stem = join(directory, `calls-${newId()}`);
  const path = `${stem}.db`;
  const lock = takeLock(`${stem}.lock`);
  if (!lock) throw new Error("the lock of a new spool file is taken");
  const head = sync === "normal" ? headOf(path, log) : null;
  const free = () => {
    rmSync(`${stem}.lock`, { force: true });
    lock.release();
  };
  const file = orElse(
    () => openTurnLog({ path, sync, bytesMax, create: true, ...(head && { head }) }),
    () => {
      head?.remove();
      rmSync(path, { force: true });
      free();
    },
  );
  return {
    path,
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
function headOf(path: string, log: Log): Head | null {
  try {
    return makeHead(path);
  } catch (error) {
    log.info(
      { ...errorFields(error) },
      "the spool is written without a head, which takes more of the processor",
    );
    return null;
  }
}
