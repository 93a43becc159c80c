import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

/** Names the file to which each test process writes what its files have used. */
export const USED = "TALLYGATE_TEST_USED";

/** Linux counts processor time in hundredths of a second, whatever its kernel's own clock is. */
const TICKS_PER_SECOND = 100;

/**
 * Seconds of processor time that a process and its ended descendants have used so far. Null where the system does not
 * tell: on other systems than Linux.
 */
export function usedBy(pid: number | "self"): number | null {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return null;
  // The name may hold blanks; what follows it is counted from the state, the third field.
  const fields = readFileSync(path, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks / TICKS_PER_SECOND;
}

let before = 0;

/** Notes what a test file has used, its loading included; call it when a file has ended. */
export function noteUsed(root: string, file: string): void {
  const path = process.env[USED];
  const now = usedBy("self");
  if (path === undefined || now === null) return;
  appendFileSync(path, `${(now - before).toFixed(2)} ${relative(root, file)}\n`);
  before = now;
}

/** Seconds by file, as `noteUsed` wrote them. */
export function readUsed(path: string): Map<string, number> {
  const used = new Map<string, number>();
  if (!existsSync(path)) return used;
  for (const line of readFileSync(path, "utf8").split("\n").filter(Boolean)) {
    const [seconds = "0", file = ""] = line.split(" ");
    used.set(file, (used.get(file) ?? 0) + Number(seconds));
  }
  return used;
}
