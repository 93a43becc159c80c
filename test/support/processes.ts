import { readdirSync, readFileSync } from "node:fs";
import { readPidFile } from "#drizzle/embedded/pid-file.ts";
import { until } from "./until.ts";

/** Whether this system lists its processes in /proc. */
export const HAS_PROC = process.platform === "linux";

/** A process and all that descend from it. */
export function familyOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(Number(name));
    if (parent !== null) parents.set(Number(name), parent);
  }
  const family = [pid];
  // The list grows while it is walked.
  for (const member of family) {
    for (const [child, parent] of parents) if (parent === member) family.push(child);
  }
  return family;
}

/** The processes that `pid` has started, of those that run `script`. */
export const childrenRunning = (pid: number, script: string): number[] =>
  readdirSync("/proc")
    .filter(
      (name) => /^\d+$/.test(name) && parentOf(Number(name)) === pid && commandOf(name).includes(script),
    )
    .map(Number);

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command in parentheses may hold blanks; the parent is the second word after it.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return null;
  }
}

/** Sends `signal` to a process and all that descend from it. */
export function signalFamily(pid: number, signal: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
  for (const member of familyOf(pid)) {
    try {
      process.kill(member, signal);
    } catch {
      // It ended between the listing and the signal.
    }
  }
}

/** The main process of the Postgres that runs in `data`; waits for one that is just being started. */
export const postmasterOf = (data: string): Promise<number> =>
  until(() => {
    const pid = readPidFile(data)?.pid;
    // A file may be left of one that was killed.
    return pid && isAlive(pid) ? pid : null;
  });

/** Whether a process of this number runs, or has ended and was not waited for by its parent. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
