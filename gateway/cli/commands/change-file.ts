import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { readPresent } from "#shared/env.ts";
import type { AgentName } from "../stamping/agents.ts";
import type { Homes } from "../stamping/hook-files.ts";
import { replaceFile } from "../stamping/replace-file.ts";
import { print, printNote } from "./common.ts";

export const HOMES: Homes = { home: homedir(), env: (name) => readPresent([name]).get(name) };

type Change = {
  path: string;
  edit(text: string | null): string | null;
  /** What is said of a file that stays as it is, and of one that changes. */
  says: readonly [same: string, changed: string];
  isDry: boolean;
  after: string | null;
};

/** A file's text; null if there is none. */
export const textOf = (path: string): string | null => (existsSync(path) ? readFileSync(path, "utf8") : null);

/** Changes an agent's file and says so; false if it could not be changed. */
export function changeFile(name: AgentName, { path, edit, says, isDry, after: hint }: Change): boolean {
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
      `${name}: ${path} was left as it is: ${error instanceof Error ? error.message : "it cannot be changed"}.`,
    );
    return false;
  }
}
