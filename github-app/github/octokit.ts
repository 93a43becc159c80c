import { createAppAuth } from "@octokit/auth-app";
import { retry } from "@octokit/plugin-retry";
import { throttling } from "@octokit/plugin-throttling";
import { Octokit } from "@octokit/rest";

/** The App's identity at GitHub. `apiUrl` is the REST API's root. */
export type AppIdentity = { apiUrl: string; app: { id: number; privateKey: string } };

const ANSWER_MS_MAX = 30_000;
/** Longer waits are left to the caller, who can log them, stop, and continue after a restart. */
const WAIT_SECONDS_MAX = 5;
const WAITS_MAX = 2;
/** A retry does not change these; callers wait after too many calls (429). */
const FINAL_STATUSES = [400, 401, 403, 404, 410, 422, 429, 451];

export type GithubOptions = {
  /** Ends running calls. */
  signal?: AbortSignal;
  /** Without queues: for a stand-in without rate limits. */
  unpaced?: boolean;
};

const Throttled = Octokit.plugin(throttling, retry);
export type Github = InstanceType<typeof Throttled>;

/** GitHub as the App itself sees it: its registration, installations and webhook deliveries. */
export const appGithub = (identity: AppIdentity, options: GithubOptions = {}): Github =>
  github(identity, null, options);

/** GitHub as one installation sees it: its repositories. Tokens are fetched and renewed as needed. */
export const installationGithub = (
  identity: AppIdentity,
  installationId: number,
  options: GithubOptions = {},
): Github => github(identity, installationId, options);

/**
 * At most ten calls at once and one write a second, as GitHub asks; a server error is retried three times. When GitHub
 * asks to wait longer than 5 s, calls reject at once: see `waitMsOf`.
 */
function github(
  { apiUrl, app }: AppIdentity,
  installationId: number | null,
  { signal, unpaced = false }: GithubOptions,
): Github {
  const mayWait = (seconds: number, _options: unknown, _octokit: unknown, waits: number) =>
    seconds <= WAIT_SECONDS_MAX && waits < WAITS_MAX;
  return new Throttled({
    authStrategy: createAppAuth,
    auth: {
      appId: app.id,
      privateKey: app.privateKey,
      ...(installationId === null ? {} : { installationId }),
    },
    baseUrl: apiUrl,
    userAgent: "tallygate",
    log: SILENT,
    request: { fetch: fetchUntil(signal) },
    retry: { doNotRetry: FINAL_STATUSES },
    throttle: {
      enabled: !unpaced,
      // GitHub counts calls by installation.
      id: `${apiUrl} ${app.id} ${installationId ?? "app"}`,
      onRateLimit: mayWait,
      onSecondaryRateLimit: mayWait,
    },
  });
}

const fetchUntil = (signal?: AbortSignal) => (url: string, init: RequestInit) => {
  const signals = [AbortSignal.timeout(ANSWER_MS_MAX), ...(signal ? [signal] : [])];
  return fetch(url, { ...init, signal: AbortSignal.any(signals) });
};

// Octokit's own log lines quote addresses and messages.
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const DEFAULT_WAIT_MS = 60_000;

/**
 * How long GitHub asks to wait, when `error` is its refusal of too many calls; else null. A second is added, because
 * GitHub rounds to seconds.
 */
export function waitMsOf(error: unknown, now: Date): number | null {
  const status = statusOf(error);
  if (status !== 403 && status !== 429) return null;
  const headers = headersOf(error);
  const after = Number(headers["retry-after"]);
  if (after > 0) return (after + 1) * 1000;
  if (headers["x-ratelimit-remaining"] === "0") {
    const resetMs = Number(headers["x-ratelimit-reset"]) * 1000;
    return Math.max(1000, resetMs - now.getTime() + 1000);
  }
  const isSecondary = error instanceof Error && /secondary rate/i.test(error.message);
  return status === 429 || isSecondary ? DEFAULT_WAIT_MS : null;
}

/** The HTTP status of Octokit's error, or null. */
export const statusOf = (error: unknown): number | null =>
  error instanceof Error && "status" in error && typeof error.status === "number" ? error.status : null;

function headersOf(error: unknown): Record<string, string | undefined> {
  const response = error instanceof Error && "response" in error ? error.response : null;
  const headers =
    typeof response === "object" && response !== null && "headers" in response ? response.headers : {};
  // Octokit's response headers are texts by name.
  return headers as Record<string, string | undefined>;
}
