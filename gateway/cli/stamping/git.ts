import { inheritedEnv } from "#shared/env.ts";

/** Runs git in a directory; `text` is its output without the final line break, or null if it failed. */
export type Git = (...args: readonly string[]) => Promise<string | null>;

/** Git in the directory, in English and without terminal prompts. */
export const gitIn =
  (directory: string): Git =>
  async (...args) => {
    const child = Bun.spawn(["git", ...args], {
      cwd: directory,
      env: inheritedEnv({ LC_ALL: "C", GIT_TERMINAL_PROMPT: "0" }),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
    const text = await new Response(child.stdout).text();
    return (await child.exited) === 0 ? text.replace(/\n$/, "") : null;
  };

/** The checked-out branch, even without a commit; null with a detached head and outside a repository. */
export const currentBranch = (git: Git): Promise<string | null> =>
  git("symbolic-ref", "--quiet", "--short", "HEAD");

const COMMON_DEFAULTS = ["main", "master", "trunk"];

/** Whether work starts from this branch: the remote's default or, if no remote names one, a conventional name. */
export async function isDefaultBranch(git: Git, branch: string): Promise<boolean> {
  const remoteHead = await git("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD");
  if (remoteHead !== null) return remoteHead === `origin/${branch}`;
  const configured = await git("config", "--get", "init.defaultBranch");
  return branch === configured || COMMON_DEFAULTS.includes(branch);
}
