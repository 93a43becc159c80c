import { rename } from "node:fs/promises";
import { join, resolve } from "node:path";
import { currentBranch, type Git } from "./git.ts";

// What a tool did to a repository's branches, whatever its command was: all worktrees share them, and git's reflogs say
// when and how each one moved. Nothing runs before a tool, where a hook that fails would stop the agent.

/** Branches by name. A branch that was pushed need not exist here: `git push origin HEAD:name`. */
export type Effects = { worked: string[]; pushed: string[] };

/** The branches as the last hook of any agent in this repository saw them, one `ref object` a line. */
const SEEN = "tallygate-branches";

/** Reflogs count whole seconds, and the hook itself takes a moment to start. */
const SLACK_MS = 2_000;
/** How far to look back after a tool of unknown duration: on the branch that is checked out, and on others. */
const OWN_BRANCH_MS = 600_000;
const OTHER_BRANCH_MS = 60_000;
/** Without a last look, only a branch whose newest commit is younger can be one that the tool moved. */
const FIRST_LOOK_MS = 86_400_000;

const REFS = ["refs/heads", "refs/remotes"] as const;
/** Movements of a branch that add no work to it. */
const NO_WORK = /^(?:branch|reset|checkout|clone|fetch|pull|update by push)\b|: Fast-forward$/i;
const PUSH = /^update by push/;

/** The tool that has just ended: when it is unknown how long it ran, `ranMs` is null. */
export async function effectsOf(
  git: Git,
  directory: string,
  { ranMs, now }: { ranMs: number | null; now: number },
): Promise<Effects> {
  const common = await git("rev-parse", "--git-common-dir");
  const text =
    common === null ? null : await git("for-each-ref", "--format=%(refname) %(objectname)", ...REFS);
  if (common === null || text === null) return { worked: [], pushed: [] };
  const file = join(resolve(directory, common), SEEN);
  const seen = await Bun.file(file)
    .text()
    .catch(() => null);
  if (seen === text) return { worked: [], pushed: [] };
  const before = tipsIn(seen ?? "");
  const refs = seen === null ? await youngRefs(git, now - FIRST_LOOK_MS) : changedRefs(text, before);
  const effects = await effectsOn(git, refs, { before, ranMs, now });
  // Without the file, which a sandbox may forbid, each look is the first one.
  await keep(file, text).catch(() => undefined);
  return effects;
}

type Look = { before: ReadonlyMap<string, string>; ranMs: number | null; now: number };

async function effectsOn(git: Git, refs: readonly string[], { before, ranMs, now }: Look): Promise<Effects> {
  const own = await currentBranch(git);
  const remotes = (await git("remote"))?.split("\n") ?? [];
  const worked = new Set<string>();
  const pushed = new Set<string>();
  for (const ref of refs) {
    const { branch, isLocal } = branchOf(ref, remotes);
    const since = now - SLACK_MS - (ranMs ?? (branch === own ? OWN_BRANCH_MS : OTHER_BRANCH_MS));
    const moves = await movesOf(git, ref, { until: before.get(ref), since });
    if (isLocal && moves.some((move) => !NO_WORK.test(move))) worked.add(branch);
    if (!isLocal && moves.some((move) => PUSH.test(move))) pushed.add(branch);
  }
  return { worked: [...worked], pushed: [...pushed] };
}

const tipsIn = (text: string): Map<string, string> =>
  new Map(text.split("\n").map((line) => line.split(" ", 2) as [string, string]));

const changedRefs = (text: string, before: ReadonlyMap<string, string>): string[] =>
  [...tipsIn(text)].filter(([ref, tip]) => before.get(ref) !== tip).map(([ref]) => ref);

async function youngRefs(git: Git, since: number): Promise<string[]> {
  const format = "--format=%(committerdate:unix) %(refname)";
  const lines = (await git("for-each-ref", format, ...REFS))?.split("\n") ?? [];
  return lines
    .map((line) => line.split(" "))
    .flatMap(([at, ref = ""]) => (Number(at) * 1000 < since ? [] : ref));
}

/** How a ref moved since then, newest first, as its reflog words it; up to the object it was last seen at. */
async function movesOf(
  git: Git,
  ref: string,
  { until, since }: { until: string | undefined; since: number },
): Promise<string[]> {
  const log = await git("reflog", "show", "--date=unix", "--format=%H %gd %gs", "-n", "50", ref, "--");
  const moves: string[] = [];
  for (const line of log?.split("\n") ?? []) {
    const [, object, at, move = ""] = /^(\S+) \S+@\{(\d+)\} (.*)$/.exec(line) ?? [];
    if (object === undefined || object === until || Number(at) * 1000 < since - 999) break;
    moves.push(move);
  }
  return moves;
}

function branchOf(ref: string, remotes: readonly string[]): { branch: string; isLocal: boolean } {
  const local = /^refs\/heads\/(.+)$/.exec(ref)?.[1];
  if (local !== undefined) return { branch: local, isLocal: true };
  const path = ref.slice("refs/remotes/".length);
  const remote = remotes.find((name) => path.startsWith(`${name}/`)) ?? path.split("/")[0] ?? "";
  return { branch: path.slice(remote.length + 1), isLocal: false };
}

/** Written at once as a whole: hooks of several agents may look at the same time. */
async function keep(file: string, text: string): Promise<void> {
  const making = `${file}.${process.pid}`;
  await Bun.write(making, text);
  await rename(making, file);
}
