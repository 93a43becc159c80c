import { agentsGateway } from "../agents/agents-gateway.ts";
import { declareWork } from "./context.ts";
import { type Git, gitIn, isDefaultBranch } from "./git.ts";
import { githubHost, openGithub } from "./github.ts";
import type { StampHookCall } from "./hook-input.ts";
import { linkInstead, linkSession } from "./link.ts";
import { remotesOn } from "./remote.ts";
import { stampPullRequest } from "./stamp.ts";
import type { Stamped } from "./stamp-target.ts";
import { endFinishedTask } from "./task.ts";
import type { Effects } from "./tool-effects.ts";

/** The message for the agent's user; `done` is false if someone has to act. */
type Note = { done: boolean; text: string };

/** Between this machine's clock and GitHub's. */
const CLOCKS_APART_MS = 60_000;
/** How long a tool ran that does not report it. */
const UNKNOWN_MS = 60_000;
/** A pull request that a tool of unknown duration created is at most this old. */
const CREATED_MS = 600_000;

/**
 * Runs as an agent's hook after a tool: stamps the pull requests that the tool created, and those of branches that it
 * pushed, declares the session for each branch that it worked on, and the branch that the session works on from now on. Silent where there is nothing to do; one failure
 * does not stop the rest, and none stops the agent.
 */
export async function afterTool(call: StampHookCall, { worked, pushed }: Effects): Promise<Note[]> {
  const directory = call.directory ?? ".";
  const git = gitIn(directory);
  const branches = await workingBranches(git, [...pushed, ...worked]);
  const notes: Note[] = [];
  const attempt = async (step: () => Promise<Note | null>): Promise<void> => {
    const note = await step().catch(failure);
    if (note) notes.push(note);
  };
  let gateway: ReturnType<typeof agentsGateway> | null = null;
  const gatewayOnce = () => (gateway ??= agentsGateway({ directory, git }));
  const github = () => openGithub(directory, null);
  const before = Date.now() - (call.ranMs ?? UNKNOWN_MS);
  for (const branch of branches) {
    await attempt(async () => {
      await endFinishedTask(git, github, { branch, before });
      return null;
    });
  }
  const given = { session: null, reported: call.session, fromCommits: false, dryRun: false };
  for (const choice of await choicesFor(git, call, await workingBranches(git, pushed))) {
    await attempt(async () => {
      const stamped = await stampPullRequest(git, github(), { ...given, ...choice });
      return noteOf(stamped.instead ? await linkInstead(git, stamped, await gatewayOnce()) : stamped);
    });
  }
  const { session } = call;
  if (session === null) return notes;
  // Runs after any tool, so an unavailable gateway is not reported to the agent every time.
  const declare = async () =>
    declareWork(git, { session, worked: await workingBranches(git, worked) }, await gatewayOnce());
  await declare().catch(() => undefined);
  if (branches.length === 0) return notes;
  await attempt(async () => {
    for (const branch of branches) await linkSession(git, { session, branch }, await gatewayOnce());
    return null;
  });
  return notes;
}

const failure = (error: unknown): Note => ({
  done: false,
  text: error instanceof Error ? error.message : "failed",
});

/** Silent without a pull request, and where nothing changed. */
const noteOf = ({ url, done, changed, text }: Stamped): Note | null =>
  url !== null && (changed || !done) ? { done, text } : null;

/** Each once, without those that work only starts from. */
async function workingBranches(git: Git, names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of new Set(names)) if (!(await isDefaultBranch(git, name))) found.push(name);
  return found;
}

/**
 * The pull requests to stamp: those whose addresses the tool showed, if it created them; those of pushed branches; and the
 * checked-out branch's after a tool that says that it changes pull requests.
 */
async function choicesFor(git: Git, call: StampHookCall, pushed: readonly string[]) {
  const host = githubHost();
  const createdSince = Date.now() - (call.ranMs ?? CREATED_MS) - CLOCKS_APART_MS;
  const shown = call.shown.filter((it) => it.host === host);
  const created = shown.map(({ owner, repository, number }) => ({
    place: { owner, repository },
    number,
    createdSince,
  }));
  const concerned = call.concerns ? [{ place: null, number: null }] : [];
  const isOnGithub = pushed.length > 0 && (await remotesOn(git, host)).length > 0;
  const ofBranches = pushed.map((branch) => ({ place: null, number: null, branch, isOpen: true }));
  return [...created, ...(isOnGithub ? ofBranches : []), ...concerned];
}
