import { type AppIdentity, type Github, type GithubOptions, installationGithub } from "../github/octokit.ts";

const CLIENTS_MAX = 1000;

/** GitHub as each installation sees it; a client is kept, because it keeps its token. */
export function githubByInstallation(identity: AppIdentity, options: GithubOptions = {}) {
  const clients = new Map<number, Github>();
  return (installationId: number): Github => {
    const known = clients.get(installationId);
    if (known) return known;
    if (clients.size >= CLIENTS_MAX) clients.clear();
    const made = installationGithub(identity, installationId, options);
    clients.set(installationId, made);
    return made;
  };
}
