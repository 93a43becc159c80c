import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, parsedJson } from "#shared/json.ts";
import { ownDirectory } from "../client/settings-directory.ts";
import type { Git } from "./git.ts";

// Where each session was last seen, so that a hook declares a branch only on change. A session may move between
// repositories, so this is not kept in one of them. If it cannot be kept, the gateway ignores repeated declarations.

/** Of the sessions seen last. */
const SESSIONS_MAX = 50;

const file = (): string => join(ownDirectory(), "places.json");

/** The repository and the branch that is checked out, in two lines; null outside a repository, and with a detached head. */
export async function currentPlace(git: Git): Promise<string | null> {
  const common = await git("rev-parse", "--path-format=absolute", "--git-common-dir");
  const branch = common === null ? null : await git("symbolic-ref", "--quiet", "--short", "HEAD");
  return branch === null ? null : `${common}\n${branch}`;
}

/** `isDeclared`: a branch was declared for the session. */
type Seen = { place: string; isDeclared: boolean };

async function allSeen(): Promise<[string, Seen][]> {
  const text = await Bun.file(file())
    .text()
    .catch(() => "");
  const kept = parsedJson(text);
  return Object.entries(isRecord(kept) ? kept : {}).flatMap(([session, seen]) =>
    isRecord(seen) && typeof seen["place"] === "string"
      ? [[session, { place: seen["place"], isDeclared: seen["isDeclared"] === true }]]
      : [],
  );
}

/** Where the session was last seen; null: nowhere. */
export const seenPlace = async (session: string): Promise<Seen | null> =>
  (await allSeen()).find(([name]) => name === session)?.[1] ?? null;

export async function keepPlace(session: string, seen: Seen): Promise<void> {
  const others = (await allSeen()).filter(([name]) => name !== session).slice(1 - SESSIONS_MAX);
  const making = `${file()}.${process.pid}`;
  await mkdir(ownDirectory(), { recursive: true, mode: 0o700 });
  await Bun.write(making, JSON.stringify(Object.fromEntries([...others, [session, seen]])));
  await rename(making, file());
}
