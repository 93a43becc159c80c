import { START_COMMAND } from "../own-program.ts";

export const HELP = `Usage: ${START_COMMAND}

Starts Tallygate: a Postgres (unless DATABASE_URL is set), the gateway, and the GitHub App.
Ctrl-C stops them in order; a second Ctrl-C stops at once. Everything created at the first start is in the data directory.

Settings are environment variables (a .env file works too):

  PORT              port of the gateway (8787)
  HOST              address that both listen on (127.0.0.1)
  DATA_DIR          directory of keys, spool and database (.tallygate)
  DATABASE_URL      your own Postgres, postgres://...
  REPORTS_DATABASE_URL
                    read reports from this replica (DATABASE_URL)
  CLICKHOUSE_URL    a ClickHouse for records and reports, http://user:password@host:8123/database (none)
  CLICKHOUSE_CLUSTER
                    name of its cluster, if it is more than one server (none)
  MASTER_KEY        32 bytes in hexadecimal or base64 that encrypt credentials; required with DATABASE_URL
  MASTER_KEY_REPLACES
                    id of a lost MASTER_KEY that the present one replaces (none)
  ADMIN_KEY         the admin key (created at the first start)
  PRICES_URL        address of the public price list's file, fetched daily
  PUBLIC_URL        address of the gateway as clients reach it
  LOG_LEVEL         trace, debug, info, warn, error or fatal (info)
  METRICS_PUBLIC    true: /metrics needs no key (false)
  ALLOWED_HOSTS     accept requests only for these host names, separated by commas (any)
  TRUSTED_PROXIES   proxies in front that name the client's address: loopback, private, or networks such as 10.0.0.0/8,
                    separated by commas (none)
  SPOOL_DIR         where records wait for Postgres (DATA_DIR/spool)
  SPOOL_SYNC        normal, or full: flush every record to disk at once (normal)
  SPOOL_BYTES_MAX   maximum size of the spool (1 GiB)
  JSON_BYTES_MAX, OTLP_BYTES_MAX, TOOL_BYTES_MAX, MULTIPART_BYTES_MAX
                    largest bodies: model calls (32 MiB), metrics exports after decompression (8 MiB), hooks and
                    MCP (4 MiB), files (512 MiB)
  BODIES_BYTES_MAX  memory for the bodies of all calls in flight (256 MiB, at most a quarter of the machine's)
  BODY_WAIT_SECONDS how long to wait for a body; each 16 KiB received adds a second (30)
  READER_STALL_SECONDS
                    how long a client may leave a part of its answer unread (120)
  CALLS_MAX, CALLS_PER_KEY_MAX, CALLS_PER_PROVIDER_MAX
                    calls in flight at once, beyond which calls get 503 (CALLS_MAX: as many as the limit on open files
                    allows, at most 10000; the others: nine tenths of it)
  WORKERS           processes of the gateway that share the port: a number from 1 to 64, or auto: one fewer than the
                    machine has cores (1)
  STOP_GRACE_SECONDS, DRAIN_SECONDS_MAX
                    after a stop signal: how long new calls are accepted (0), and running ones may continue (300)
  SNAPSHOT_SECONDS_MAX
                    maximum age of the configuration that a start without Postgres may use (86400; 0: none is stored)
  REFUSALS_PER_MINUTE
                    number of wrong keys from one address within a minute at which it gets 429 (10)
  GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET
                    sign-in with GitHub (those of the App that the set-up page registered)
  OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_GROUPS_CLAIM
                    single sign-on; the last is the claim that lists a person's groups (groups)
  SAML_ENTRY_POINT, SAML_ISSUER, SAML_CERTIFICATE, SAML_GROUPS_ATTRIBUTE
                    single sign-on by SAML; the last is the attribute that lists a person's groups (groups)
  TELEMETRY_ENDPOINT, TELEMETRY_HEADERS, TELEMETRY_SERVICE_NAME
                    collector for traces and metrics of calls by OTLP over HTTP (none)
  BATCH_CHECK_SECONDS
                    how often to check batches that no client polls (30)
  LIMITS_AWAY_AFTER_MS
                    milliseconds without an answer after which keys' limits count Postgres as away (250)
  DATABASE_POOL_MAX connections of each pool to Postgres at most (up to 4, by pool)
  OPENAI_API_KEY, ANTHROPIC_API_KEY, ...   each creates that provider
  ADMIN_KEY_FILE, MASTER_KEY_FILE, DATABASE_URL_FILE, ...
                    a file with that secret, instead of the variable

  GITHUB_APP_PORT, GITHUB_APP_URL
                    port of the GitHub App (8788), and where GitHub and browsers reach it (this host at that port)
  APP_ID, PRIVATE_KEY or PRIVATE_KEY_PATH, WEBHOOK_SECRET, WEBHOOK_PATH, GHE_HOST, GHE_PROTOCOL
                    the App's id, private key and webhook secret; where webhooks arrive (/api/github/webhooks);
                    a GitHub Enterprise Server and its scheme (none, https)
  WEBHOOK_SECRET_PREVIOUS
                    also accepted while you rotate the secret
`;
