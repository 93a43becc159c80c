import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "#drizzle/embedded/location.ts";
import { SignInLink } from "#shared/admin/sign-in-links.ts";
import { pause } from "#shared/backoff.ts";
import type { Ambient, Clock } from "#shared/clock.ts";
import { CONFIGURATION_EXIT_CODE } from "#shared/env.ts";
import { portFault } from "#shared/listen.ts";
import { isLoopback } from "#shared/loopback.ts";
import { githubAppKey, parseMasterKey } from "#shared/master-key.ts";
import { fits } from "#shared/schema.ts";
import { newSetupLink } from "#shared/setup-link.ts";
import type { LauncherConfig } from "../../config.ts";
import { Secret } from "../../directory.ts";
import { apiAt } from "../client/api.ts";
import { reachable } from "../client/settings.ts";
import { ensurePages } from "../pages/build-pages.ts";
import { banner } from "./banner.ts";
import { type Child, keepChild } from "./child.ts";
import { type ReadyDatabase, readyDatabase } from "./database.ts";
import { gatewayEnv, githubAppEnv } from "./environment.ts";
import { ensureSecrets, type InstallationSecrets } from "./secrets.ts";
import type { StopRequests } from "./stop-requests.ts";
import { openSwitchboard } from "./switchboard.ts";

export type LaunchOptions = Ambient & {
  config: LauncherConfig;
  scripts: { gateway: string; githubApp: string };
  requests: StopRequests;
  /** Shows a line to the user. */
  say: (text: string) => void;
};

/** The exit status of a launcher that was asked to stop. */
const ENDED = 0;

/** How long a previous pair that is shutting down may still hold a port. */
const PORT_PATIENCE_MS = 10_000;

/** Runs database, gateway and App; resolves with the exit status when all ended. @throws Error with a remedy. */
export async function launch(options: LaunchOptions): Promise<number> {
  const { config, requests } = options;
  const secrets = secretsIn(config);
  // Beside the start of the database, which takes as long.
  const pages = ensurePages(config.dataDirectory, options.log);
  const { signal } = requests;
  const database = await readyDatabase({ ...options, progress: options.say, signal }).catch((error) => {
    if (signal.aborted) return null;
    throw error;
  });
  if (database === null) return ENDED;
  try {
    await pages;
    return signal.aborted ? ENDED : await runPair(options, secrets, database);
  } finally {
    await database.stop(requests.second);
  }
}

/** Creates the data directory and the secrets in it. */
function secretsIn(config: LauncherConfig): InstallationSecrets {
  try {
    // Postgres may run as another user and must be able to traverse it; the files inside have their own modes.
    makeDirectory(config.dataDirectory, 0o711);
    return ensureSecrets(config);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new Error(
      `DATA_DIR ${config.dataDirectory} cannot be used: ${error.message}. Give this user write access, or set another directory.`,
      { cause: error },
    );
  }
}

async function runPair(options: LaunchOptions, secrets: InstallationSecrets, database: ReadyDatabase) {
  const { config, scripts, requests, log } = options;
  await untilPortsAreFree(options);
  if (requests.signal.aborted) return ENDED;
  const switchboard = openSwitchboard(() => gateway.processes());
  const gateway = keepChild({
    name: "gateway",
    script: scripts.gateway,
    env: gatewayEnv(config, secrets, database.url),
    onMessage: switchboard.take,
    processes: config.workers,
    log,
  });
  const githubApp = keepChild({
    name: "github-app",
    script: scripts.githubApp,
    env: githubAppEnv(secrets, database.url),
    processes: 1,
    log,
  });
  const children = [gateway, githubApp];
  requests.onRestart(() => void restartAll(children, options));
  const over = new AbortController();
  void announce(options, { secrets, database }, over.signal);
  // A child ends unrequested only if its settings are wrong, and has logged them itself.
  const end = await Promise.race([requests.first, ...children.map((child) => child.ended)]);
  over.abort();
  await endPair(children, end === "misconfigured" || end === "stopped" ? "SIGTERM" : end, options);
  return end === "misconfigured" ? CONFIGURATION_EXIT_CODE : ENDED;
}

/** New processes take the place of the present ones, one after the other. */
async function restartAll(children: readonly Child[], { say }: LaunchOptions): Promise<void> {
  say("Restarting the gateway and the GitHub App …");
  const replaced: boolean[] = [];
  for (const child of children) replaced.push(await child.replace());
  say(
    replaced.includes(false)
      ? "Not everything was restarted; processes that could not be replaced keep running. See the log for the reason."
      : "Restarted.",
  );
}

/** Forwards the signal and waits; a child still running at the time limit, or at a second request, is killed. */
async function endPair(children: Child[], signal: NodeJS.Signals, { config, requests, say }: LaunchOptions) {
  if (signal === "SIGINT") say("Stopping once running calls have finished. Press Ctrl-C again to stop now.");
  for (const child of children) child.stop(signal);
  const ended = Promise.all(children.map((child) => child.ended));
  const waited = new AbortController();
  await Promise.race([ended, requests.second, pause(config.stopSecondsMax * 1_000, waited.signal)]);
  waited.abort();
  for (const child of children) child.stop("SIGKILL");
  await ended;
}

/** What to do, by the code of the failure; others are the host's. */
const PORT_FAULTS: Readonly<Record<string, (name: string) => string>> = {
  EADDRINUSE: (name) => `another process uses it (EADDRINUSE). Stop that process, or set ${name}.`,
  EACCES: (name) => `this user may not open it (EACCES). Set ${name} to 1024 or more.`,
};

async function untilPortsAreFree({ config, clock, requests, say }: LaunchOptions): Promise<void> {
  const deadline = clock.monotonicMs() + PORT_PATIENCE_MS;
  const wanted = [
    ["PORT", config.port],
    ["GITHUB_APP_PORT", config.githubAppPort],
  ] as const;
  for (const [name, port] of wanted) {
    for (let tries = 0; !requests.signal.aborted; tries++) {
      const fault = await portFault(config.host, port);
      if (fault === null) break;
      if (fault !== "EADDRINUSE" || clock.monotonicMs() > deadline) {
        throw new Error(
          `${name} ${port} on ${config.host} cannot be used: ${PORT_FAULTS[fault]?.(name) ?? `this machine has no such address (${fault}). Set HOST.`}`,
        );
      }
      if (tries === 0) say(`Waiting for ${name} ${port}, which another process still uses …`);
      await pause(200, requests.signal);
    }
  }
}

type Ready = { secrets: InstallationSecrets; database: ReadyDatabase };

/** Prints the banner once both programs are ready. */
async function announce(
  { config, say, clock }: LaunchOptions,
  { secrets, database }: Ready,
  signal: AbortSignal,
): Promise<void> {
  const gatewayUrl = `http://${reachable(config.host, config.port)}`;
  const githubAppUrl = `http://${reachable(config.host, config.githubAppPort)}`;
  const ready = await Promise.all([
    untilReady(`${gatewayUrl}/readyz`, signal),
    untilReady(`${githubAppUrl}/readyz`, signal),
  ]);
  if (ready.includes(false)) return;
  const firstKey = join(config.dataDirectory, "first-key");
  say(
    banner({
      gatewayUrl,
      publicUrl: config.publicUrl,
      githubAppUrl,
      signInUrl: await firstSignInUrl(gatewayUrl, secrets),
      setupUrl: (await isSetUp(githubAppUrl)) ? null : `${githubAppUrl}${setupPath(secrets, clock)}`,
      database: database.description,
      adminKeyFile: secrets.adminKeyFile,
      plainHost: isOpen(config) ? config.host : null,
      firstKeyFile: existsSync(firstKey) ? firstKey : null,
    }),
  );
}

/** Resolves with true when `url` answers 200, or with false when `signal` aborts. */
async function untilReady(url: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    const ready = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(2_000)]) }).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return true;
    await pause(50, signal);
  }
  return false;
}

/** Whether others on the network can send keys and prompts unencrypted. */
const isOpen = ({ host, publicUrl }: LauncherConfig): boolean =>
  !isLoopback(host) && !publicUrl?.startsWith("https://");

/** A path that opens the App's set-up page once. */
const setupPath = ({ masterKey }: InstallationSecrets, clock: Clock): string =>
  newSetupLink(githubAppKey(parseMasterKey(masterKey) ?? new Uint8Array()), clock.now()).path;

/** A link for the first administrator; null if one exists, or if no link can be made now. */
async function firstSignInUrl(gatewayUrl: string, { adminKey }: InstallationSecrets): Promise<string | null> {
  try {
    const api = apiAt(gatewayUrl, new Secret(adminKey));
    const link: unknown = await api.call("POST", "/admin/v1/sign-in-links", {});
    return fits(SignInLink, link) ? link.url : null;
  } catch {
    return null;
  }
}

/** Whether the App takes webhooks: without a secret it knows no address for them. */
async function isSetUp(githubAppUrl: string): Promise<boolean> {
  const page = await fetch(githubAppUrl).then(
    (answer) => answer.text(),
    () => "",
  );
  return !page.includes("not configured");
}
