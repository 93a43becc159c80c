import { type AppIdentity, type Github, installationGithub } from "../octokit.ts";

const CLIENTS_MAX = 1000;

/** GitHub as each installation sees it; a client is kept, because it keeps its token. `signal` ends running calls. */
export function githubByInstallation(identity: AppIdentity, signal?: AbortSignal) {
  const clients = new Map<number, Github>();
  return (installationId: number): Github => {
    const known = clients.get(installationId);
    if (known) return known;
    if (clients.size >= CLIENTS_MAX) clients.clear();
    const made = installationGithub(identity, installationId, signal ? { signal } : {});
    clients.set(installationId, made);
    return made;
  };
}
