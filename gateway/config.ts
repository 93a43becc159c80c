import { totalmem } from "node:os";
import { join, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import {
  ConfigurationError,
  type Environment,
  isSupervised,
  joins,
  processesOf,
  readEnv,
  readPresent,
  takesOver,
} from "#shared/env.ts";
import { optional, port, postgresUrl, secret } from "#shared/env-forms.ts";
import { githubAppFaults } from "#shared/github-app-config.ts";
import type { LogLevel } from "#shared/log.ts";
import { namesProxy } from "#shared/loopback.ts";
import { parseMasterKey } from "#shared/master-key.ts";
import { withPoolMax } from "#shared/postgres-url.ts";
import { type TrustedProxies, trustedProxies } from "#shared/proxies.ts";
import { isWeakSecret } from "#shared/secret-strength.ts";
import { COMMON, MEBIBYTE } from "./common-settings.ts";
import { Secret } from "./directory.ts";
import { signInFaults, waysConfigOf } from "./identity/elsewhere/settings.ts";
import type { WaysConfig } from "./identity/elsewhere/ways.ts";
import { PROVIDERS } from "./providers/catalog.ts";
import { type TelemetrySettings, telemetryOf } from "./telemetry/telemetry.ts";
import { type InFlightMax, inFlightMaxOf } from "./upstream/in-flight.ts";
import type { Patience } from "./upstream/patience.ts";
import { workersOf, workersSetting } from "./workers/setting.ts";

const ADMIN_KEY = secret(
  "16 to 200 printable characters without blanks that are hard to guess, e.g. from `openssl rand -hex 32`",
  (value) => /^[!-~]{16,200}$/.test(value) && !isWeakSecret(value),
);
const MASTER_KEY = secret("32 bytes in hexadecimal or base64", (value) => parseMasterKey(value) !== null);

const CommonEnv = Type.Object(COMMON);

const GatewayEnv = Type.Object({ ...COMMON, DATABASE_URL: postgresUrl(), ADMIN_KEY, MASTER_KEY });

const LauncherEnv = Type.Object({
  ...COMMON,
  DATABASE_URL: optional(postgresUrl()),
  ADMIN_KEY: optional(ADMIN_KEY),
  MASTER_KEY: optional(MASTER_KEY),
  GITHUB_APP_PORT: port(8788),
  WORKERS: workersSetting(),
});

export const SETTING_NAMES: readonly string[] = Object.keys(LauncherEnv.properties);

export type GatewayConfig = {
  port: number;
  host: string;
  databaseUrl: string;
  /** Read replica for reports; null: reports use the main database. */
  reportsDatabaseUrl: string | null;
  /** Null: records and reports are in Postgres alone. */
  clickhouse: { url: string; cluster: string | null } | null;
  /** Absolute. */
  dataDirectory: string;
  /** Whether the environment names a proxy, which Bun's `fetch` then uses. */
  proxied: boolean;
  adminKey: Secret;
  /** 32 bytes. */
  masterKey: Uint8Array;
  /** Id of a lost master key that this one replaces. */
  masterKeyReplaces: string | null;
  logLevel: LogLevel;
  pricesUrl: string | null;
  /** URL at which clients reach the gateway, without a trailing slash; null: the address it listens on. */
  publicUrl: string | null;
  metricsPublic: boolean;
  /** Lower case, without port; null: any host. */
  allowedHosts: readonly string[] | null;
  /** Proxies in front that name the client's address. */
  trustedProxies: TrustedProxies;
  spool: { directory: string; sync: "normal" | "full"; bytesMax: number };
  /** Body size limits: model JSON; OTLP after decompression; hooks and MCP; multipart. */
  bytesMax: { json: number; otlp: number; tool: number; multipart: number };
  /** Memory that the bodies of all calls in flight may take. */
  bodiesBytesMax: number;
  /** How long to wait for clients. */
  patience: Patience;
  /** How long running calls may continue during shutdown. */
  drainSecondsMax: number;
  /** How long the gateway reports "not ready" but still takes calls before it closes its port. */
  stopGraceSeconds: number;
  /** Calls in flight at once: in this process, of one key, and at a provider without a limit of its own. */
  inFlightMax: InFlightMax;
  /** The limits' database is away once calls wait for it and it has answered nothing for this time. */
  limitsAwayAfterMs: number;
  /** How old the snapshot may be that a start without the database begins with; 0: none is written or used. */
  snapshotSecondsMax: number;
  /** Poll interval for batches that have not been reconciled. */
  batchCheckSeconds: number;
  /** Refused credentials of one address within a minute from which on they are answered 429. */
  refusalsPerMinute: number;
  /** Where people can sign in besides one-time links. */
  waysIn: WaysConfig;
  /** Null: no traces or metrics are exported. */
  telemetry: TelemetrySettings | null;
  /** Whether the launcher started this process. */
  supervised: boolean;
  /** Whether this process is to replace another one, which still runs. */
  takesOver: boolean;
  /** Whether this process joins other workers of its gateway, which serve already. */
  joins: boolean;
  /** How many workers the gateway has, this one included. Settings of amounts are shared out among them. */
  workers: number;
  /** Credentials of providers, by the vendors' own variables (`OPENAI_API_KEY`, …). */
  providerKeys: ReadonlyMap<string, Secret>;
};

/** @throws ConfigurationError listing every fault. */
export function readGatewayConfig(env?: Environment): GatewayConfig {
  const values = readEnv(GatewayEnv, env, commonFaults);
  const dataDirectory = resolve(values.DATA_DIR);
  const workers = processesOf(env);
  const share = (amount: number) => Math.ceil(amount / workers);
  return {
    ...addressOf(values),
    databaseUrl: withPoolMax(values.DATABASE_URL, values.DATABASE_POOL_MAX),
    reportsDatabaseUrl: values.REPORTS_DATABASE_URL ?? null,
    clickhouse: clickhouseOf(values),
    proxied: namesProxy(env),
    adminKey: new Secret(values.ADMIN_KEY),
    masterKey: parseMasterKey(values.MASTER_KEY) ?? new Uint8Array(),
    masterKeyReplaces: values.MASTER_KEY_REPLACES ?? null,
    logLevel: values.LOG_LEVEL,
    metricsPublic: values.METRICS_PUBLIC,
    allowedHosts: values.ALLOWED_HOSTS?.split(",").map((host) => host.trim().toLowerCase()) ?? null,
    trustedProxies: trustedProxies(values.TRUSTED_PROXIES),
    spool: {
      directory: resolve(values.SPOOL_DIR ?? join(dataDirectory, "spool")),
      sync: values.SPOOL_SYNC,
      bytesMax: share(values.SPOOL_BYTES_MAX),
    },
    bytesMax: {
      json: values.JSON_BYTES_MAX,
      otlp: values.OTLP_BYTES_MAX,
      tool: values.TOOL_BYTES_MAX,
      multipart: values.MULTIPART_BYTES_MAX,
    },
    bodiesBytesMax: share(values.BODIES_BYTES_MAX ?? Math.min(256 * MEBIBYTE, Math.floor(totalmem() / 4))),
    patience: { readerMs: values.READER_STALL_SECONDS * 1000, bodyMs: values.BODY_WAIT_SECONDS * 1000 },
    drainSecondsMax: values.DRAIN_SECONDS_MAX,
    stopGraceSeconds: values.STOP_GRACE_SECONDS,
    inFlightMax: inFlightMaxOf(
      {
        process: values.CALLS_MAX,
        perKey: values.CALLS_PER_KEY_MAX,
        perProvider: values.CALLS_PER_PROVIDER_MAX,
      },
      share,
    ),
    limitsAwayAfterMs: values.LIMITS_AWAY_AFTER_MS,
    snapshotSecondsMax: values.SNAPSHOT_SECONDS_MAX,
    batchCheckSeconds: values.BATCH_CHECK_SECONDS,
    refusalsPerMinute: share(values.REFUSALS_PER_MINUTE),
    waysIn: waysConfigOf(values),
    telemetry: telemetryOf(values),
    supervised: isSupervised(env),
    takesOver: takesOver(env),
    joins: joins(env),
    workers,
    providerKeys: readProviderKeys(env),
  };
}

export type LauncherConfig = Pick<
  GatewayConfig,
  "port" | "host" | "logLevel" | "dataDirectory" | "publicUrl" | "workers"
> & {
  githubAppPort: number;
  /** Null: run an embedded Postgres. */
  databaseUrl: string | null;
  /** Null: the one in the data directory, generated at first start. */
  adminKey: Secret | null;
  masterKey: Secret | null;
  /** Total time that the child processes may take to stop. */
  stopSecondsMax: number;
};

/** The launcher's settings, the gateway's and the App's checked too. @throws ConfigurationError listing every fault. */
export function readLauncherConfig(env?: Environment): LauncherConfig {
  const values = readEnv(LauncherEnv, env, (isSet) => [
    ...(isSet("DATABASE_URL") && !isSet("MASTER_KEY")
      ? [
          `MASTER_KEY is missing, which a DATABASE_URL of your own requires; expected ${MASTER_KEY["accepts"]}`,
        ]
      : []),
    ...commonFaults(isSet),
    ...githubAppFaults(SETTING_NAMES, env),
  ]);
  if (values.PORT === values.GITHUB_APP_PORT) {
    throw new ConfigurationError([
      `PORT and GITHUB_APP_PORT are both ${values.PORT}; accepted are two ports`,
    ]);
  }
  return {
    ...addressOf(values),
    githubAppPort: values.GITHUB_APP_PORT,
    logLevel: values.LOG_LEVEL,
    databaseUrl: values.DATABASE_URL ?? null,
    adminKey: values.ADMIN_KEY === undefined ? null : new Secret(values.ADMIN_KEY),
    masterKey: values.MASTER_KEY === undefined ? null : new Secret(values.MASTER_KEY),
    stopSecondsMax: values.STOP_GRACE_SECONDS + values.DRAIN_SECONDS_MAX + 15,
    workers: workersOf(values.WORKERS),
  };
}

const PROVIDER_VARIABLES = Object.values(PROVIDERS).flatMap(({ envKey }) =>
  envKey === null ? [] : [envKey],
);

const readProviderKeys = (env?: Environment): Map<string, Secret> =>
  new Map([...readPresent(PROVIDER_VARIABLES, env)].map(([name, value]) => [name, new Secret(value)]));

/** Rules between settings. */
const commonFaults = (isSet: (name: keyof Static<typeof CommonEnv> & string) => boolean): string[] => [
  ...signInFaults(isSet),
  ...(isSet("CLICKHOUSE_CLUSTER") && !isSet("CLICKHOUSE_URL")
    ? [
        "CLICKHOUSE_URL is missing, which CLICKHOUSE_CLUSTER requires; expected the address of one of its servers",
      ]
    : []),
];

const clickhouseOf = ({ CLICKHOUSE_URL: url, CLICKHOUSE_CLUSTER: cluster }: Static<typeof CommonEnv>) =>
  url === undefined ? null : { url, cluster: cluster ?? null };

const addressOf = (values: Static<typeof CommonEnv>) => ({
  port: values.PORT,
  host: values.HOST,
  dataDirectory: resolve(values.DATA_DIR),
  pricesUrl: values.PRICES_URL ?? null,
  publicUrl: values.PUBLIC_URL?.replace(/\/+$/, "") ?? null,
});
