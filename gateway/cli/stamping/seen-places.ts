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

/** `isDeclared`: a branch was declared for the session. `elsewhere`: the head of another worktree, which it works in. */
type Seen = { place: string; isDeclared: boolean; elsewhere: Head | null };
type Head = { file: string; text: string };

/** The head of another worktree than this one with that branch. */
export async function headElsewhere(git: Git, branch: string): Promise<Head | null> {
  const directories = await git("rev-parse", "--path-format=absolute", "--git-common-dir", "--git-dir");
  const [common, own] = directories?.split("\n") ?? [];
  if (!common) return null;
  const others = new Bun.Glob("worktrees/*/HEAD").scanSync({ cwd: common, absolute: true });
  for (const file of [join(common, "HEAD"), ...others]) {
    const text = await Bun.file(file).text();
    if (text.trim() === `ref: refs/heads/${branch}`)
      return file === join(own ?? "", "HEAD") ? null : { file, text };
  }
  return null;
}

/** The branch that the other worktree in which a session works was switched to. */
export async function switchedTo({ elsewhere }: Seen): Promise<string | null> {
  const text =
    elsewhere &&
    (await Bun.file(elsewhere.file)
      .text()
      .catch(() => null));
  if (text === null || text === elsewhere?.text) return null;
  return /^ref: refs\/heads\/(.+)$/m.exec(text)?.[1] ?? null;
}

async function allSeen(): Promise<[string, Seen][]> {
  const text = await Bun.file(file())
    .text()
    .catch(() => "");
  const kept = parsedJson(text);
  return Object.entries(isRecord(kept) ? kept : {}).flatMap(([session, seen]) =>
    isRecord(seen) && typeof seen["place"] === "string"
      ? [
          [
            session,
            {
              place: seen["place"],
              isDeclared: seen["isDeclared"] === true,
              elsewhere: headIn(seen["elsewhere"]),
            },
          ],
        ]
      : [],
  );
}

const headIn = (kept: unknown): Head | null =>
  isRecord(kept) && typeof kept["file"] === "string" && typeof kept["text"] === "string"
    ? { file: kept["file"], text: kept["text"] }
    : null;

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
