export const HELP = `Usage: bun run start

Starts Tallygate: a Postgres of its own (unless DATABASE_URL is set), the gateway, and the GitHub App beside it.
Ctrl-C ends them in order; a second one at once. Everything made at the first start lies in the data directory.

Settings are environment variables (or a file .env):

  PORT              the gateway's port (8787)
  HOST              the address that both listen on (127.0.0.1)
  DATA_DIR          keys, spool and database (.tallygate)
  DATABASE_URL      a Postgres of your own, postgres://...
  REPORTS_DATABASE_URL
                    a replica of it that reports are read from (DATABASE_URL)
  MASTER_KEY        32 bytes in hexadecimal or base64 that seal providers' credentials; required with DATABASE_URL
  ADMIN_KEY         the administrators' key (made at the first start)
  PUBLIC_URL        the gateway's address as clients reach it
  LOG_LEVEL         trace, debug, info, warn, error or fatal (info)
  METRICS_PUBLIC    true: /metrics needs no key (false)
  ALLOWED_HOSTS     host names that requests may be sent to, separated by commas (any)
  SPOOL_DIR         where records wait for Postgres (DATA_DIR/spool)
  SPOOL_SYNC        normal, or full: every record is flushed to disk at once (normal)
  SPOOL_BYTES_MAX   how large that may grow (1 GiB)
  JSON_BYTES_MAX, OTLP_BYTES_MAX, TOOL_BYTES_MAX, MULTIPART_BYTES_MAX
                    the largest bodies: model calls (32 MiB), metrics exports after decompression (8 MiB), hooks and
                    MCP (4 MiB), files (512 MiB)
  STOP_GRACE_SECONDS, DRAIN_SECONDS_MAX
                    after a signal: how long calls are still taken (0), and running ones may go on (300)
  BATCH_CHECK_SECONDS
                    how often batches that nobody asks about are looked at (30)
  OPENAI_API_KEY, ANTHROPIC_API_KEY, ...   each makes that provider available

  GITHUB_APP_PORT   the GitHub App's port (8788)
  APP_ID, PRIVATE_KEY or PRIVATE_KEY_PATH, WEBHOOK_SECRET, WEBHOOK_PATH, GHE_HOST, GHE_PROTOCOL
                    as for every Probot app
  WEBHOOK_SECRET_PREVIOUS
                    also accepted, while the secret is being changed
`;
