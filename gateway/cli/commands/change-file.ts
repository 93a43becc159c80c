import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { print, printNote } from "./common.ts";

type Change = {
  path: string;
  edit(text: string | null): string | null;
  /** What is said of a file that stays as it is, and of one that changes. */
  says: readonly [same: string, changed: string];
  isDry: boolean;
  after?: string | null | undefined;
};

export const textOf = (path: string): string | null => (existsSync(path) ? readFileSync(path, "utf8") : null);

/** Changes an agent's file and says so; false if it could not be changed. */
export function changeFile(name: string, { path, edit, says, isDry, after: hint }: Change): boolean {
  const [same, changed] = says;
  try {
    const before = textOf(path);
    const after = edit(before);
    if (after === before) {
      print(`${name}: ${path} ${same}.`);
      return true;
    }
    if (!isDry) replaceFile(path, after);
    print(`${name}: ${isDry ? "would change" : changed} ${path}${after === null ? ", which is gone" : ""}.`);
    if (hint) print(`  ${hint}`);
    return true;
  } catch (error) {
    printNote(
      `${name}: ${path} was left unchanged: ${error instanceof Error ? error.message : "it cannot be changed"}.`,
    );
    return false;
  }
}

/** Writes a file atomically or, with null, removes it; a symbolic link stays, and its target is replaced. */
export function replaceFile(path: string, text: string | null): void {
  const real = existsSync(path) ? realpathSync(path) : path;
  if (text === null) {
    rmSync(real);
    return;
  }
  const mode = existsSync(real) ? statSync(real).mode & 0o777 : 0o600;
  mkdirSync(dirname(real), { recursive: true });
  const temporary = `${real}.tmp-${process.pid}`;
  writeFileSync(temporary, text, { mode });
  renameSync(temporary, real);
}
