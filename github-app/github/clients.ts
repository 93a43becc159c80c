import { type AppIdentity, appGithub, type Github, installationGithub } from "./octokit.ts";

/** GitHub, as the App and as each of its installations; made once each, because they keep tokens and queues. */
export type Clients = { app: Github; installation: (id: number) => Github };

/** The clients of the present identity; null while there is none. Another identity gets others. */
export function createClients(
  identity: () => AppIdentity | null,
  options: { signal?: AbortSignal; unpaced?: boolean } = {},
): () => Clients | null {
  let key = "";
  let clients: Clients | null = null;
  return () => {
    const it = identity();
    const itsKey = it === null ? "" : JSON.stringify(it);
    if (itsKey !== key) {
      key = itsKey;
      clients = it && clientsOf(it, options);
    }
    return clients;
  };
}

function clientsOf(identity: AppIdentity, options: { signal?: AbortSignal; unpaced?: boolean }): Clients {
  const installations = new Map<number, Github>();
  return {
    app: appGithub(identity, options),
    installation: (id) => {
      const known = installations.get(id) ?? installationGithub(identity, id, options);
      installations.set(id, known);
      return known;
    },
  };
}
