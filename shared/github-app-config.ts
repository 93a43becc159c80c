import { createHash, createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { ConfigurationError, type Environment, readEnv } from "./env.ts";
import {
  flag,
  listenHost,
  oneWord,
  optional,
  poolMax,
  port,
  postgresUrl,
  secret,
  text,
} from "./env-forms.ts";
import { LOG_LEVELS } from "./log.ts";
import { githubAppKey, parseMasterKey } from "./master-key.ts";
import { withPoolMax } from "./postgres-url.ts";
import { trustedProxies, trustedProxiesSetting } from "./proxies.ts";
import { isWeakSecret } from "./secret-strength.ts";

const OWN_PATHS = ["/", "/healthz", "/readyz", "/metrics"];
const SECRET_ACCEPTS = "at least 16 characters that are hard to guess, e.g. from `openssl rand -hex 32`";

const HEX_256 = /^[0-9a-f]{64}$/;

const isSecret = (value: string) => value.length >= 16 && !isWeakSecret(value);

/** The GitHub instance: github.com or an Enterprise Server. */
export const GITHUB_ADDRESS_SETTINGS = {
  GHE_HOST: optional(
    text("the host name of a GitHub Enterprise Server", (value) => /^[A-Za-z0-9.-]+(:\d{1,5})?$/.test(value)),
  ),
  GHE_PROTOCOL: oneWord(["https", "http"], "https"),
};
const GithubAddressEnv = Type.Object(GITHUB_ADDRESS_SETTINGS);

export const GithubAppEnv = Type.Object({
  GITHUB_APP_PORT: port(8788),
  HOST: listenHost(),
  DATABASE_URL: postgresUrl(),
  DATABASE_POOL_MAX: optional(poolMax()),
  LOG_LEVEL: oneWord(LOG_LEVELS, "info"),
  APP_ID: optional(Type.Integer({ minimum: 1, accepts: "the App's id, a number" })),
  PRIVATE_KEY: optional(
    secret(
      "the App's private key in PEM, as GitHub issued it, or its base64 form",
      (value) => readPem(value) !== null,
    ),
  ),
  PRIVATE_KEY_PATH: optional(
    text("a file with the App's private key in PEM", (path) => readPemFile(path) !== null),
  ),
  WEBHOOK_SECRET: optional(secret(SECRET_ACCEPTS, isSecret)),
  WEBHOOK_SECRET_PREVIOUS: optional(secret(SECRET_ACCEPTS, isSecret)),
  WEBHOOK_PATH: text("a path such as /api/github/webhooks", isWebhookPath, "/api/github/webhooks"),
  ...GITHUB_ADDRESS_SETTINGS,
  METRICS_PUBLIC: flag(false),
  TRUSTED_PROXIES: optional(trustedProxiesSetting()),
  PORT: port(8787),
  GITHUB_APP_URL: optional(text("the App's http or https address", (value) => URL.canParse(value))),
  PUBLIC_URL: optional(text("the gateway's http or https address", (value) => URL.canParse(value))),
  ADMIN_KEY: optional(secret("the gateway's admin key", (value) => /^[!-~]{16,200}$/.test(value))),
  ADMIN_KEY_SHA256: optional(secret("64 hexadecimal digits", (value) => HEX_256.test(value))),
  MASTER_KEY: optional(secret("the gateway's master key", (value) => parseMasterKey(value) !== null)),
  GITHUB_APP_KEY: optional(secret("64 hexadecimal digits", (value) => HEX_256.test(value))),
});

export type GithubAppConfig = ReturnType<typeof readGithubAppConfig>;

/** The GitHub App's settings, under Probot's names. @throws ConfigurationError naming every fault. */
export function readGithubAppConfig(env?: Environment) {
  const values = readEnv(GithubAppEnv, env, missing);
  const pem =
    values.PRIVATE_KEY === undefined
      ? readPemFile(values.PRIVATE_KEY_PATH ?? "")
      : readPem(values.PRIVATE_KEY);
  return {
    port: values.GITHUB_APP_PORT,
    host: values.HOST,
    databaseUrl: withPoolMax(values.DATABASE_URL, values.DATABASE_POOL_MAX),
    logLevel: values.LOG_LEVEL,
    /** Null: the App does not call GitHub. `privateKey` is PEM. */
    app: values.APP_ID === undefined || pem === null ? null : { id: values.APP_ID, privateKey: pem },
    /** The current secret first, then the previous one during a rotation; empty: no webhook is accepted. */
    webhookSecrets: [values.WEBHOOK_SECRET, values.WEBHOOK_SECRET_PREVIOUS].filter((it) => it !== undefined),
    webhookPath: values.WEBHOOK_PATH,
    ...githubAddresses(values),
    metricsPublic: values.METRICS_PUBLIC,
    /** Proxies in front that name the client's address. */
    trustedProxies: trustedProxies(values.TRUSTED_PROXIES),
    /** Where people reach the gateway, without a trailing slash; null: at this host, at `gatewayPort`. */
    publicUrl: values.PUBLIC_URL?.replace(/\/+$/, "") ?? null,
    gatewayPort: values.PORT,
    /** Where GitHub and browsers reach the App, without a trailing slash; null: at the gateway's host, at `port`. */
    ownUrl: values.GITHUB_APP_URL?.replace(/\/+$/, "") ?? null,
    ...keysOf(values),
  };
}

/** The REST API's root, e.g. `https://api.github.com`, and where people use GitHub, e.g. `https://github.com`. */
export function githubAddresses({ GHE_HOST, GHE_PROTOCOL }: Static<typeof GithubAddressEnv>) {
  if (GHE_HOST === undefined) return { apiUrl: "https://api.github.com", webUrl: "https://github.com" };
  const webUrl = `${GHE_PROTOCOL}://${GHE_HOST}`;
  return { apiUrl: `${webUrl}/api/v3`, webUrl };
}

/** The launcher passes derived keys; without it, the environment may contain the original keys. */
function keysOf(values: Static<typeof GithubAppEnv>) {
  const masterKey = values.MASTER_KEY === undefined ? null : parseMasterKey(values.MASTER_KEY);
  const given = values.ADMIN_KEY;
  return {
    /** SHA-256 of the admin key, hexadecimal; null: the set-up page is disabled. */
    adminKeyDigest:
      values.ADMIN_KEY_SHA256 ??
      (given === undefined ? null : createHash("sha256").update(given).digest("hex")),
    /** The 32-byte key that seals credentials; null: none are stored. */
    sealKey:
      values.GITHUB_APP_KEY === undefined
        ? masterKey && githubAppKey(masterKey)
        : Uint8Array.fromHex(values.GITHUB_APP_KEY),
  };
}

/**
 * What is wrong with the GitHub App's settings other than `checked`, which the caller reads itself: for the launcher,
 * which starts nothing with settings that one of its processes would refuse.
 */
export function githubAppFaults(checked: readonly string[], env?: Environment): readonly string[] {
  const unchecked: TObject = Type.Omit(GithubAppEnv, checked);
  try {
    readEnv(unchecked, env, missing);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
  return [];
}

type Name = keyof Static<typeof GithubAppEnv>;

/** Settings that other settings require. */
function missing(isSet: (name: Name) => boolean): string[] {
  const hasKey = isSet("PRIVATE_KEY") || isSet("PRIVATE_KEY_PATH");
  return [
    ...(isSet("APP_ID") && !hasKey
      ? ["PRIVATE_KEY or PRIVATE_KEY_PATH is missing, which APP_ID requires"]
      : []),
    ...(hasKey && !isSet("APP_ID") ? ["APP_ID is missing, which the private key requires"] : []),
    ...(isSet("APP_ID") && !isSet("WEBHOOK_SECRET")
      ? [`WEBHOOK_SECRET is missing, which APP_ID requires; expected ${SECRET_ACCEPTS}`]
      : []),
    ...(isSet("WEBHOOK_SECRET_PREVIOUS") && !isSet("WEBHOOK_SECRET")
      ? ["WEBHOOK_SECRET is missing, which WEBHOOK_SECRET_PREVIOUS requires"]
      : []),
  ];
}

/** A PEM private key from the forms that Probot takes: as it is, with `\n` for line ends, or all of it in base64. */
function readPem(value: string): string | null {
  const plain = value.includes("-----BEGIN") ? value : Buffer.from(value, "base64").toString("utf8");
  const pem = plain.replaceAll("\\n", "\n").trim();
  try {
    createPrivateKey(pem);
    return `${pem}\n`;
  } catch {
    return null;
  }
}

function readPemFile(path: string): string | null {
  try {
    return readPem(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}

function isWebhookPath(value: string): boolean {
  return /^(\/[A-Za-z0-9._~-]+)+$/.test(value) && !OWN_PATHS.includes(value) && !/^\/setup(\/|$)/.test(value);
}
