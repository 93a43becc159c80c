import { type Database, within } from "#drizzle/database.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import type { Ambient } from "#shared/clock.ts";
import { errorFields } from "#shared/log.ts";
import { type Clients, createClients } from "./github/clients.ts";
import type { CredentialStore } from "./github/credentials.ts";
import { reportRegistration } from "./github/registration.ts";
import { readAppSettings } from "./stores/settings-store.ts";
import { readWaits, saveWait } from "./stores/wait-store.ts";

type Deps = Ambient & {
  database: Database;
  credentials: CredentialStore;
  /** Ends running calls. */
  signal: AbortSignal;
  /** GitHub asked to wait. */
  asked: () => void;
  /** See `ClientOptions`. */
  writeMs?: number;
};

/** Without a database the App starts anyway, and reads what it shares later. */
const FIRST_READ_MS = 2_000;
/** Between reads of what another process may have changed. */
const AGAIN_MS = 5_000;
/** After this, every process has read it. */
export const SPREAD_MS = AGAIN_MS + 2_000;

/** The App's clients of GitHub, by the credentials and the waits that all its processes share. */
export type GithubAccess = {
  clients: () => Clients | null;
  /** Reads again what other processes changed, and reports each identity once. */
  watch: () => Poller;
};

export async function openGithubAccess(deps: Deps): Promise<GithubAccess> {
  const { database, clock, log, credentials } = deps;
  const { signal, writeMs } = deps;
  const clients = createClients(() => credentials.current().identity, {
    clock,
    signal,
    ...(writeMs === undefined ? {} : { writeMs }),
    closed: (installationId, untilMs) => {
      deps.asked();
      log.warn({ installationId, until: new Date(untilMs).toISOString() }, "GitHub asked to wait");
      void saveWait(database, installationId, untilMs).catch((error: unknown) =>
        log.warn(errorFields(error), "the wait was not stored"),
      );
    },
  });
  const read = async () => {
    await credentials.refresh();
    const waits = await readWaits(database, clock.now());
    for (const it of waits) clients()?.waitUntil(it.installationId, it.untilMs);
  };
  await within(FIRST_READ_MS, read()).catch(() => undefined);
  let reported: Clients | null = null;
  const round = async () => {
    await read();
    const present = clients();
    if (present !== null && present !== reported) {
      void reportRegistration(present.app, () => readAppSettings(database), log);
    }
    reported = present;
    return false;
  };
  return { clients, watch: () => poll({ log, pollMs: AGAIN_MS, round }) };
}
