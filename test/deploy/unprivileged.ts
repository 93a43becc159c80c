import { copyFileSync, lchownSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** `nobody` of every Linux. */
const NOBODY = 65534;

const isRoot = process.getuid?.() === 0;

/** The command as an ordinary user: as `nobody` where the tests run as root. */
export const unprivileged = (command: readonly string[]): string[] =>
  isRoot ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", ...command] : [...command];

/** Gives a directory to that user, with all that is in it. */
export function giveToUnprivileged(path: string): void {
  if (isRoot) own(path);
}

function own(path: string): void {
  const facts = lstatSync(path);
  if (facts.isDirectory()) for (const name of readdirSync(path)) own(join(path, name));
  lchownSync(path, NOBODY, NOBODY);
}

/** Copies this Bun to `place`, where that user may run it: the home it comes from may be closed to others. */
export function copyBun(place: string): string {
  const path = join(place, "bun");
  copyFileSync(process.execPath, path);
  return path;
}
