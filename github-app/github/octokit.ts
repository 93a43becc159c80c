import { createAppAuth } from "@octokit/auth-app";
import { retry } from "@octokit/plugin-retry";
import { Octokit } from "@octokit/rest";
import type { Clock } from "#shared/clock.ts";
import type { Gate } from "./gate.ts";
import type { TokenCache } from "./tokens.ts";
import { lacksPermission, statusOf } from "./wait.ts";

/** The App's identity on GitHub. `apiUrl` is the REST API's root. */
export type AppIdentity = { apiUrl: string; app: { id: number; privateKey: string } };

const ANSWER_MS_MAX = 30_000;
/** A retry does not change these; callers wait after too many calls (429). */
const FINAL_STATUSES = [400, 401, 403, 404, 410, 422, 429, 451];
const READS = ["GET", "HEAD"];

const Retrying = Octokit.plugin(retry);
export type Github = InstanceType<typeof Retrying>;

export type GithubParts = {
  clock: Clock;
  /** Of calls as the App itself; asking for an installation's token is one. */
  appGate: Gate;
  /** Ends running calls. */
  signal?: AbortSignal | undefined;
};

/** GitHub as the App itself sees it: its registration, installations and webhook deliveries. */
export function appGithub({ apiUrl, app }: AppIdentity, { appGate, signal }: GithubParts): Github {
  return new Retrying({
    ...OPTIONS,
    auth: { appId: app.id, privateKey: app.privateKey },
    baseUrl: apiUrl,
    request: { fetch: fetchThrough(() => appGate, signal) },
  });
}

/**
 * GitHub as one installation sees it: its repositories. Tokens are fetched and renewed as needed. A token that GitHub
 * refuses, or that lacks a permission, is discarded, and the call is retried once with a new one.
 */
export function installationGithub(
  { apiUrl, app }: AppIdentity,
  { id, gate, tokens }: { id: number; gate: Gate; tokens: TokenCache },
  { clock, appGate, signal }: GithubParts,
): Github {
  // While the installation waits, no token is asked for either.
  const gateOf = (path: string) => (path.endsWith("/access_tokens") && gate.waitMs() === 0 ? appGate : gate);
  const github = new Retrying({
    ...OPTIONS,
    auth: { appId: app.id, privateKey: app.privateKey, installationId: id, cache: tokens },
    baseUrl: apiUrl,
    request: { fetch: fetchThrough(gateOf, signal) },
  });
  github.hook.wrap("request", async (request, options) => {
    const startedMs = clock.monotonicMs();
    try {
      return await request(options);
    } catch (error) {
      const isRefused = statusOf(error) === 401 || lacksPermission(error);
      if (!isRefused || !tokens.forget(startedMs)) throw error;
      return await request(options);
    }
  });
  return github;
}

// Octokit's own log lines quote addresses and messages.
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const OPTIONS = {
  authStrategy: createAppAuth,
  userAgent: "tallygate",
  log: SILENT,
  retry: { doNotRetry: FINAL_STATUSES },
};

const fetchThrough =
  (gateOf: (path: string) => Gate, signal?: AbortSignal) => (url: string, init: RequestInit) => {
    const { pathname } = new URL(url);
    const method = init.method ?? "GET";
    // Queries of GraphQL and requests for tokens change nothing on GitHub.
    const isWrite = !READS.includes(method) && !/\/(graphql|access_tokens)$/.test(pathname);
    const resource = pathname.endsWith("/graphql") ? "graphql" : "core";
    return gateOf(pathname).pass({ isWrite, resource }, () => {
      const signals = [AbortSignal.timeout(ANSWER_MS_MAX), ...(signal ? [signal] : [])];
      return fetch(url, { ...init, signal: AbortSignal.any(signals) });
    });
  };
