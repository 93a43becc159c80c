import { homedir } from "node:os";
import { readPresent } from "#shared/env.ts";

/** Where agents keep a user's own settings. */
export type Homes = { home: string; env(name: string): string | undefined };

/** This process's user and environment. */
export const HOMES: Homes = { home: homedir(), env: (name) => readPresent([name]).get(name) };

/** A file's text; empty if it cannot be read. */
export const fileText = (path: string): Promise<string> =>
  Bun.file(path)
    .text()
    .catch(() => "");
