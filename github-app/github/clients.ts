import {
  type AppIdentity,
  appGithub,
  type Github,
  type GithubOptions,
  installationGithub,
} from "./octokit.ts";

/** GitHub as the App and as each of its installations sees it. Created once each: they keep tokens and queues. */
export type Clients = { appId: number; app: Github; installation: (id: number) => Github };

const INSTALLATIONS_MAX = 1000;

/** The clients of the present identity, created again when it changes; null: the App has no identity at GitHub. */
export function createClients(
  identity: () => AppIdentity | null,
  options: GithubOptions = {},
): () => Clients | null {
  let key = "";
  let clients: Clients | null = null;
  return () => {
    const present = identity();
    const presentKey = JSON.stringify(present);
    if (presentKey !== key) {
      key = presentKey;
      clients = present && clientsOf(present, options);
    }
    return clients;
  };
}

export function clientsOf(identity: AppIdentity, options: GithubOptions = {}): Clients {
  const installations = new Map<number, Github>();
  return {
    appId: identity.app.id,
    app: appGithub(identity, options),
    installation: (id) => {
      const known = installations.get(id);
      if (known) return known;
      if (installations.size >= INSTALLATIONS_MAX) installations.clear();
      const created = installationGithub(identity, id, options);
      installations.set(id, created);
      return created;
    },
  };
}
