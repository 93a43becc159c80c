import type { Git } from "./git.ts";

/** A GitHub repository, as named by one of the checkout's remotes. */
export type Remote = { name: string; host: string; owner: string; repository: string };

const SCP_FORM = /^(?:[^@/]+@)?([A-Za-z0-9.-]+):(?!\/)(.+)$/;
const PATH_FORM = /^\/*([^/]+)\/([^/]+?)(?:\.git)?\/*$/;

/** Host, owner and repository of a remote's address in any form that git accepts; null for a local path. */
export function readRemoteAddress(address: string): Omit<Remote, "name"> | null {
  const url = /^[a-z+]+:\/\//.test(address) ? URL.parse(address) : null;
  const [, scpHost, scpPath] = url ? [] : (SCP_FORM.exec(address) ?? []);
  const host = url ? hostOf(url) : scpHost;
  const [, owner, repository] = PATH_FORM.exec(url?.pathname ?? scpPath ?? "") ?? [];
  if (!host || !owner || !repository) return null;
  return { host: host.toLowerCase(), owner, repository };
}

/** GitHub also serves ssh at a port of its own; an http server's port is part of its name. */
function hostOf({ protocol, hostname, host }: URL): string {
  if (hostname === "ssh.github.com") return "github.com";
  return /^https?:$/.test(protocol) ? host : hostname;
}

/** The remotes on `host`, those that usually receive pull requests first (`upstream`, then `origin`). */
export async function remotesOn(git: Git, host: string): Promise<Remote[]> {
  const names = (await git("remote"))?.split("\n").filter(Boolean) ?? [];
  const found: Remote[] = [];
  for (const name of names) {
    const address = await git("remote", "get-url", name);
    const remote = address === null ? null : readRemoteAddress(address);
    // An ssh address does not contain its web server's port.
    if (remote && (remote.host === host || remote.host === host.replace(/:\d+$/, "")))
      found.push({ name, ...remote, host });
  }
  return found.sort((one, other) => rank(one.name) - rank(other.name));
}

const rank = (name: string): number => {
  const at = ["upstream", "origin"].indexOf(name);
  return at === -1 ? 2 : at;
};

/** Owner of the repository that the branch is pushed to, if its remotes show it. */
export async function headOwner(git: Git, branch: string, remotes: readonly Remote[]) {
  const settings = [`branch.${branch}.pushRemote`, "remote.pushDefault", `branch.${branch}.remote`];
  for (const setting of settings) {
    const name = await git("config", "--get", setting);
    const remote = remotes.find((it) => it.name === name);
    if (remote) return remote.owner;
  }
  const usual = remotes.find(({ name }) => name === "origin") ?? remotes[0];
  return usual?.owner ?? null;
}
