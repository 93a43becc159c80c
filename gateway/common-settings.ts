import { Type } from "@sinclair/typebox";
import {
  clickhouseUrl,
  flag,
  isPublicUrl,
  listenHost,
  oneWord,
  optional,
  poolMax,
  port,
  postgresUrl,
  publicUrl,
  text,
  whole,
} from "#shared/env-forms.ts";
import { LOG_LEVELS } from "#shared/log.ts";
import { trustedProxiesSetting } from "#shared/proxies.ts";
import { SIGN_IN_SETTINGS } from "./identity/elsewhere/settings.ts";
import { TELEMETRY_ENV } from "./telemetry/telemetry.ts";

export const MEBIBYTE = 1024 ** 2;

const bytes = (fallback: number) => whole("a number of bytes", [1024, 1024 ** 4], fallback);

const calls = () => Type.Integer({ minimum: 1, maximum: 1_000_000, accepts: "a number of calls, 1 or more" });

const HOSTS = /^[A-Za-z0-9._-]+(\s*,\s*[A-Za-z0-9._-]+)*$/;

/** Settings that the launcher and the gateway share. */
export const COMMON = {
  PORT: port(8787),
  HOST: listenHost(),
  DATA_DIR: text("a directory", () => true, ".tallygate"),
  LOG_LEVEL: oneWord(LOG_LEVELS, "info"),
  PUBLIC_URL: optional(publicUrl()),
  PRICES_URL: optional(text("an http or https URL of a price list's file, without a query", isPublicUrl)),
  METRICS_PUBLIC: flag(false),
  ALLOWED_HOSTS: optional(text("host names separated by commas", (value) => HOSTS.test(value))),
  TRUSTED_PROXIES: optional(trustedProxiesSetting()),
  REPORTS_DATABASE_URL: optional(postgresUrl()),
  DATABASE_POOL_MAX: optional(poolMax()),
  CLICKHOUSE_URL: optional(clickhouseUrl()),
  CLICKHOUSE_CLUSTER: optional(
    text("the name of a cluster: letters, digits, _ and -", (value) => /^[\w-]{1,100}$/.test(value)),
  ),
  SPOOL_DIR: optional(text("a directory on a local disk", () => true)),
  SPOOL_SYNC: oneWord(["normal", "full"], "normal"),
  SPOOL_BYTES_MAX: whole("a number of bytes", [32 * MEBIBYTE, 1024 ** 4], 1024 * MEBIBYTE),
  JSON_BYTES_MAX: bytes(32 * MEBIBYTE),
  OTLP_BYTES_MAX: bytes(8 * MEBIBYTE),
  TOOL_BYTES_MAX: bytes(4 * MEBIBYTE),
  MULTIPART_BYTES_MAX: bytes(512 * MEBIBYTE),
  BODIES_BYTES_MAX: optional(
    Type.Integer({ minimum: MEBIBYTE, maximum: 1024 ** 4, accepts: `a number of bytes from ${MEBIBYTE}` }),
  ),
  BODY_WAIT_SECONDS: whole("seconds", [1, 3600], 30),
  READER_STALL_SECONDS: whole("seconds", [1, 3600], 120),
  DRAIN_SECONDS_MAX: whole("seconds", [0, 3600], 300),
  REFUSALS_PER_MINUTE: whole("refused credentials", [1, 1_000_000], 10),
  BATCH_CHECK_SECONDS: whole("seconds", [1, 3600], 30),
  CALLS_MAX: optional(calls()),
  CALLS_PER_KEY_MAX: optional(calls()),
  CALLS_PER_PROVIDER_MAX: optional(calls()),
  LIMITS_AWAY_AFTER_MS: whole("milliseconds", [50, 5000], 250),
  STOP_GRACE_SECONDS: whole("seconds", [0, 300], 0),
  MASTER_KEY_REPLACES: optional(
    text("the 8 hexadecimal digits that the message named", (value) => /^[0-9a-f]{8}$/.test(value)),
  ),
  SNAPSHOT_SECONDS_MAX: whole("seconds", [0, 30 * 86_400], 86_400),
  ...SIGN_IN_SETTINGS,
  ...TELEMETRY_ENV,
};
