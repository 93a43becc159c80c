import { createHash } from "node:crypto";
import { inheritedEnv } from "#shared/env.ts";
import { githubAppKey, parseMasterKey } from "#shared/master-key.ts";
import { PROCESSES, SUPERVISED } from "#shared/stop-signal.ts";
import type { LauncherConfig } from "../../config.ts";
import { PROVIDERS } from "../../providers/catalog.ts";
import type { InstallationSecrets } from "./secrets.ts";

/**
 * Bun reads these when a process starts: the number of concurrent requests above which it silently queues, and the
 * milliseconds after which freed memory is returned to the system. The default is a tenth of a second, after which a
 * busy gateway has to fault the same pages in again.
 */
export const RUNTIME = {
  NODE_ENV: "production",
  BUN_CONFIG_MAX_HTTP_REQUESTS: "20000",
  MIMALLOC_PURGE_DELAY: "2000",
} as const;

/** For both programs. */
const COMMON = { ...RUNTIME, [SUPERVISED]: "1" };

const GITHUB_SECRETS = ["PRIVATE_KEY", "PRIVATE_KEY_PATH", "WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS"];

/** Credentials of an agent's own exports, which the exporter would add to the gateway's. */
const OTHERS_TELEMETRY = [
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
];

/** The gateway's environment: this one without the GitHub App's secrets. */
export const gatewayEnv = (
  config: LauncherConfig,
  secrets: InstallationSecrets,
  databaseUrl: string,
): Record<string, string> =>
  inheritedEnv({
    ...COMMON,
    ...without(GITHUB_SECRETS),
    ...without(OTHERS_TELEMETRY),
    ...(config.workers === 1 ? {} : { [PROCESSES]: String(config.workers) }),
    DATA_DIR: config.dataDirectory,
    DATABASE_URL: databaseUrl,
    ADMIN_KEY: secrets.adminKey,
    MASTER_KEY: secrets.masterKey,
  });

/**
 * The GitHub App's environment: this one without the gateway's keys and the providers'. Of the gateway's keys it gets
 * only one that verifies administrators and one that seals its own credentials; neither reveals the original keys.
 */
export const githubAppEnv = (secrets: InstallationSecrets, databaseUrl: string): Record<string, string> => {
  const providerKeys = Object.values(PROVIDERS).flatMap(({ envKey }) => (envKey === null ? [] : [envKey]));
  return inheritedEnv({
    ...COMMON,
    ...without(["ADMIN_KEY", "MASTER_KEY", "OIDC_CLIENT_SECRET", "GITHUB_CLIENT_SECRET", ...providerKeys]),
    DATABASE_URL: databaseUrl,
    ADMIN_KEY_SHA256: createHash("sha256").update(secrets.adminKey).digest("hex"),
    GITHUB_APP_KEY: githubAppKey(parseMasterKey(secrets.masterKey) ?? new Uint8Array()).toHex(),
  });
};

const without = (names: readonly string[]): Record<string, null> =>
  Object.fromEntries(names.map((name) => [name, null]));
