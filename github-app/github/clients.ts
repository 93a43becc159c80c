import type { Clock } from "#shared/clock.ts";
import { createGate, type Gate } from "./gate.ts";
import { type AppIdentity, appGithub, type Github, installationGithub } from "./octokit.ts";
import { createTokenCache, type TokenCache } from "./tokens.ts";

export type Clients = ReturnType<typeof clientsOf>;

export type ClientOptions = {
  clock: Clock;
  /** Ends running calls. */
  signal?: AbortSignal;
  /** Between two writes, in milliseconds; the default is what GitHub asks for. */
  writeMs?: number;
  /** Called when GitHub asked to wait (`untilMs`: Unix milliseconds); `APP_ITSELF` for the App's own calls. */
  closed?: (installationId: number, untilMs: number) => void;
};

/** Means the App's own calls where an installation is expected. */
const APP_ITSELF = 0;

const WRITE_MS = 1000;

/** The clients of the present identity, created again when it changes; null: the App has no identity on GitHub. */
export function createClients(identity: () => AppIdentity | null, options: ClientOptions) {
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

type Installation = { gate: Gate; tokens: TokenCache; github: Github };

/** GitHub as the App and as each of its installations sees it. Created once each: they keep tokens and queues. */
export function clientsOf(identity: AppIdentity, options: ClientOptions) {
  const { clock, signal, closed, writeMs = WRITE_MS } = options;
  const gateOf = (id: number) => createGate({ clock, writeMs, closed: (untilMs) => closed?.(id, untilMs) });
  const appGate = gateOf(APP_ITSELF);
  const parts = { clock, appGate, signal };
  const installations = new Map<number, Installation>();
  const installation = (id: number): Installation => {
    const known = installations.get(id);
    if (known) return known;
    const [gate, tokens] = [gateOf(id), createTokenCache(clock)];
    const created = { gate, tokens, github: installationGithub(identity, { id, gate, tokens }, parts) };
    installations.set(id, created);
    return created;
  };
  return {
    appId: identity.app.id,
    app: appGithub(identity, parts),
    installation: (id: number): Github => installation(id).github,
    /** How long GitHub asked not to be called for this installation, in milliseconds; 0: it may be called. */
    waitMs: (id: number): number => (id === APP_ITSELF ? appGate : installation(id).gate).waitMs(),
    /** The waits that are not over, in milliseconds: one for each installation, and one for the App's own calls. */
    waits: () =>
      [appGate, ...[...installations.values()].map(({ gate }) => gate)]
        .map((gate) => gate.waitMs())
        .filter((ms) => ms > 0),
    /** Until when GitHub asked to wait (Unix milliseconds), as another process or an earlier one was asked. */
    waitUntil: (id: number, untilMs: number): void =>
      (id === APP_ITSELF ? appGate : installation(id).gate).closeUntil(untilMs),
    /** Makes every installation ask for a new token, because what it may do may have changed. */
    forgetTokens: () => {
      for (const { tokens } of installations.values()) tokens.forget();
    },
  };
}
