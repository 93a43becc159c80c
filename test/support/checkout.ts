import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "./embedded.ts";
import type { FakeGithub } from "./fake-github/fake-github.ts";
import { TRANSPILED } from "./transpiled.ts";

const ROOT = join(import.meta.dir, "../..");
/** The command as a hook has it. */
export const TALLYGATE = [process.execPath, "--no-env-file", join(ROOT, "gateway/cli/tallygate.ts")];

const HOOK = [process.execPath, "--no-env-file", join(ROOT, "gateway/cli/stamp-hook.ts")];

export type Ran = { code: number; out: string; error: string };

/**
 * A developer's machine: a home, a checkout whose `origin` is `fullName` at the stand-in for GitHub, and a directory of
 * programs, among them the GitHub CLI where `gh` is asked for. Pushes go to a bare repository on disk.
 */
export async function developer(github: FakeGithub, fullName: string, options: { gh?: boolean } = {}) {
  const place = scratch();
  const [home, programs, work, bare] = ["home", "programs", "work", "bare.git"].map((name) =>
    join(place.path, name),
  ) as [string, string, string, string];
  for (const directory of [home, programs, work]) mkdirSync(directory, { recursive: true });
  const token = github.personalToken("octocat");
  const login = join(programs, "gh.json");
  writeFileSync(login, JSON.stringify({ api: github.url, token, repository: fullName }));
  const addProgram = (name: string, command: readonly string[]) => {
    const file = join(programs, name);
    writeFileSync(file, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(" ")} "$@"\n`);
    chmodSync(file, 0o755);
  };
  if (options.gh) {
    addProgram("gh", ["env", `FAKE_GH=${login}`, process.execPath, join(import.meta.dir, "stand-in/gh.ts")]);
  }
  const env: Record<string, string> = {
    PATH: `${programs}:${process.env["PATH"] ?? ""}`,
    // An agent ends with the command that started it.
    BUN_FEATURE_FLAG_NO_ORPHANS: "1",
    ...TRANSPILED,
    HOME: home,
    GHE_HOST: github.host,
    GHE_PROTOCOL: "http",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Ada",
    GIT_AUTHOR_EMAIL: "ada@example.com",
    GIT_COMMITTER_NAME: "Ada",
    GIT_COMMITTER_EMAIL: "ada@example.com",
  };
  // A login shell, which some agents start, begins with the system's PATH.
  writeFileSync(join(home, ".profile"), `PATH="${env["PATH"]}"\n`);
  const run = (command: readonly string[], more: Record<string, string> = {}, stdin = "") =>
    runIn(work, command, { ...env, ...more }, stdin);
  const git = async (...words: string[]): Promise<string> => {
    const { code, out, error } = await run(["git", ...words]);
    if (code !== 0) throw new Error(`git ${words.join(" ")}: ${error}`);
    return out.trim();
  };
  const address = `http://${github.host}/${fullName}.git`;
  await git("init", "--quiet", "--bare", "--initial-branch=main", bare);
  await git("init", "--quiet", "--initial-branch=main", ".");
  await git("remote", "add", "origin", address);
  await git("config", `url.${bare}.pushInsteadOf`, address);
  await git("commit", "--quiet", "--allow-empty", "--message=Begin");
  await git("push", "--quiet", "origin", "main");
  return {
    home,
    work,
    env,
    token,
    git,
    run,
    addProgram,
    tallygate: (words: readonly string[], more?: Record<string, string>, stdin?: string) =>
      run([...TALLYGATE, ...words], more, stdin),
    /** The hook of an agent that writes `input` to it. */
    hook: (input: string, more?: Record<string, string>) => run(HOOK, more, input),
    remove: place.remove,
  };
}

export type Developer = Awaited<ReturnType<typeof developer>>;

async function runIn(
  cwd: string,
  command: readonly string[],
  env: Record<string, string>,
  stdin: string,
): Promise<Ran> {
  const child = Bun.spawn([...command], {
    cwd,
    env,
    stdin: new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
    // Only what hangs takes as long.
    timeout: 280_000,
    killSignal: "SIGKILL",
  });
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, error };
}
