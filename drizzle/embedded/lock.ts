import { chmodSync, closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FileLock, takeLock } from "#shared/file-lock.ts";

/** Holds `directory` until this process ends, by a lock of the kernel's. Throws, naming who holds it and since when. */
export function holdLock(directory: string): FileLock {
  const pidFile = join(directory, "launcher.pid");
  const file = join(directory, "launcher.lock");
  // Whoever can open it could lock it, and so keep us from starting.
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
  const lock = takeLock(file);
  if (lock === null) {
    throw new Error(
      `Another launcher${holderIn(pidFile)} is already running with the database in ${directory}. Stop it, or choose another DATA_DIR.`,
    );
  }
  writeFileSync(pidFile, `${process.pid}\n${new Date().toISOString()}\n`, { mode: 0o600 });
  return lock;
}

/** The process that wrote the file, and since when it holds the lock. */
function holderIn(file: string): string {
  try {
    const [pid = "", since = ""] = readFileSync(file, "utf8").trim().split("\n");
    if (!/^\d+$/.test(pid)) return "";
    return since === ""
      ? ` (process ${pid})`
      : ` (process ${pid}, since ${since.slice(0, 16).replace("T", " ")} UTC)`;
  } catch {
    return "";
  }
}
