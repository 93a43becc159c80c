import { inheritedEnv } from "#shared/env.ts";

/** Runs git in a directory; `text` is what it wrote, without the last line's end, or null where it failed. */
export type Git = (...args: readonly string[]) => Promise<string | null>;

/** Git of the directory, in English and without questions at the terminal. */
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

/** The branch that is checked out, also one without a commit; null with a detached head and outside a repository. */
export const currentBranch = (git: Git): Promise<string | null> =>
  git("symbolic-ref", "--quiet", "--short", "HEAD");

const COMMON_DEFAULTS = ["main", "master", "trunk"];

/**
 * Whether work does not happen on this branch but starts from it: the remote's default branch, or where no remote says
 * one, a branch of a usual name.
 */
export async function isDefaultBranch(git: Git, branch: string): Promise<boolean> {
  const told = await git("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD");
  if (told !== null) return told === `origin/${branch}`;
  const configured = await git("config", "--get", "init.defaultBranch");
  return branch === configured || COMMON_DEFAULTS.includes(branch);
}
