/**
 * Suites that `bun run test` leaves to `bun run test --all`, with what guards their promise every time. A key is a file of
 * test/ or a folder that ends with a slash.
 */
export const SLOW: Readonly<Record<string, { why: string; guardedBy: string }>> = {
  "agents/budget-used-up.test.ts": {
    why: "starts all six coding agents",
    guardedBy: "limits/one-gateway (status and x-should-retry of the refusal), clients/recorded-agents",
  },
  "agents/calls.test.ts": {
    why: "starts Claude Code, Codex and opencode ten times",
    guardedBy: "clients/recorded-agents, clients/agents, wire/subscription-lane, clients/linked-sessions",
  },
  "agents/codex-hook.test.ts": {
    why: "starts Codex and its app server ten times",
    guardedBy: "clients/doctor, with a stand-in for Codex's app server",
  },
  "agents/gemini.test.ts": {
    why: "starts Gemini CLI twice",
    guardedBy: "clients/recorded-agents, clients/sdk-gemini, clients/gemini-translated",
  },
  "agents/hooks.test.ts": {
    why: "starts Claude Code, Codex and Gemini CLI eight times",
    guardedBy: "surfaces/hook-events, hooks/native, cli/agents (the files of administrators)",
  },
  "agents/matrix.test.ts": {
    why: "starts six coding agents three times at each of seven models",
    guardedBy: "clients/matrix (the same models by SDKs), clients/recorded-agents, translate/tool-table",
  },
  "agents/merged.test.ts": {
    why: "starts Claude Code and Codex four times",
    guardedBy: "clients/agents, clients/stamping, clients/linked-sessions",
  },
  "agents/metrics.test.ts": {
    why: "starts Claude Code, Codex and Gemini CLI",
    guardedBy: "surfaces/recorded-exports, surfaces/otel",
  },
  "agents/other-models.test.ts": {
    why: "starts Claude Code, Codex and Gemini CLI",
    guardedBy: "translate/tool-table, clients/sdk-wires, clients/sdk-carried-thoughts, upstream/pings",
  },
  "agents/plain.test.ts": {
    why: "starts Claude Code, Codex and opencode",
    guardedBy: "clients/agents, cli/agents, clients/linked-sessions",
  },
  "agents/run.test.ts": {
    why: "starts Claude Code and Codex nine times",
    guardedBy: "cli/agents (what a run tells them), wire/subscription-lane, surfaces/recorded-exports",
  },
  "agents/sessions.test.ts": {
    why: "starts Claude Code three times",
    guardedBy: "clients/linked-sessions, with the hook alone",
  },
  "agents/sign-in.test.ts": {
    why: "starts Claude Code six times",
    guardedBy: "identity/device, identity/renewal, identity/claude-settings",
  },
  "agents/stamps.test.ts": {
    why: "starts Gemini CLI, Copilot CLI, Qwen Code and opencode",
    guardedBy: "clients/doctor, cli/agents, cli/shell-profiles, clients/stamping, clients/recorded-agents",
  },
  "agents/tools.test.ts": {
    why: "starts Claude Code and Codex six times",
    guardedBy: "clients/mcp-clients, wire/mcp, surfaces/tool-calls",
  },
  "agents/ways.test.ts": {
    why: "starts all six coding agents, each in nine ways of working",
    guardedBy: "clients/linked-sessions, clients/tool-effects, clients/stamping, with the hook alone",
  },
  "clients/command-line.test.ts": {
    why: "starts the command seventy times",
    guardedBy:
      "clients/tallygate (what cannot be understood has status 2, help has 0), cli/report-text, cli/apply",
  },
  "clients/demo.test.ts": {
    why: "five installations, one of them with ClickHouse",
    guardedBy:
      "pages/walk (from webhooks to the cost of a merge), clients/sdk-chat, clients/readme, reports/golden",
  },
  "clients/evaluate-routes.test.ts": {
    why: "trains a classifier, and starts the command twice",
    guardedBy: "classifier/evaluate (the figures, and that no text is printed), clients/tallygate",
  },
  "clients/run.test.ts": {
    why: "starts the command forty times",
    guardedBy:
      "cli/agents (what a run tells each agent), clients/stamping (a run), clients/tallygate (doctor)",
  },
  "clients/mcp-conformance.test.ts": {
    why: "the protocol's own suite, through the gateway and without it",
    guardedBy: "clients/mcp-clients, wire/mcp",
  },
  "deploy/built-image.test.ts": {
    why: "carries the Dockerfile out: installs the packages and builds the console",
    guardedBy: "deploy/image (its user, files and commands), cli/start",
  },
  "deploy/helm.test.ts": {
    why: "starts Helm thirty times",
    guardedBy: "deploy/units (settings that exist), deploy/image (its user, volume and ports)",
  },
  "deploy/package.test.ts": {
    why: "builds the npm package and the one program, and installs both",
    guardedBy: "deploy/unpacked, deploy/image, cli/start",
  },
  "faults/answer-memory.test.ts": {
    why: "three answers of 60 MiB at once",
    guardedBy: "faults/slow-streams.test.ts: a client that does not read stops the provider",
  },
  "faults/classifier-thread.test.ts": {
    why: "trains classifiers, one of them three times",
    guardedBy:
      "classifier/train (training in a worker, a stored model), pages/settings (a text is classified)",
  },
  "faults/clickhouse.test.ts": {
    why: "starts ClickHouse, and kills it and gateways on the way",
    guardedBy: "stores/clickhouse-records.test.ts",
  },
  "faults/embedded-places.test.ts": {
    why: "each of its tests starts a Postgres of its own",
    guardedBy: "faults/embedded-postgres.test.ts, drizzle/embedded.test.ts",
  },
  "faults/gateway-start.test.ts": {
    why: "starts gateways and launchers that cannot start",
    guardedBy:
      "recorder/own-segment (the spool), cli/start (a port in use), cli/config (every wrong setting is named)",
  },
  "faults/github-schedules.test.ts": {
    why: "12 schedules over 400 pull requests, with kills",
    guardedBy:
      "github-app/state.test.ts: any order and repetition; wire/github/redelivery.test.ts: loss, and an App that is killed",
  },
  "faults/launcher.test.ts": {
    why: "starts the launcher twenty times, most of them with a Postgres",
    guardedBy:
      "clients/readme (the first start), faults/handover (SIGHUP, a database of one's own), faults/workers (a process that dies), faults/embedded-postgres (a launcher that is killed), cli/start (keys, waiting), stores/master-key-check, cli/config",
  },
  "faults/receiver-bombs.test.ts": {
    why: "sends nine bombs five times, and 200,000 names",
    guardedBy: "agent-metrics/bombs, surfaces/hook-events (each bomb's status), surfaces/otel (1,000 names)",
  },
  "faults/reports-replica.test.ts": {
    why: "starts three servers of Postgres that replicate",
    guardedBy:
      "reports/replica (one that lags, lacks tables or is away), drizzle/upgrade, drizzle/partitions",
  },
  "faults/upload-memory.test.ts": {
    why: "uploads of hundreds of MiB",
    guardedBy: "upstream/request-body.test.ts, faults/slow-bodies.test.ts",
  },
  "pages/clickhouse.test.ts": {
    why: "starts ClickHouse, and draws each page of reports from it and from Postgres",
    guardedBy:
      "reports/both-engines, reports/reference (any report of both), pages/manager (that it is drawn)",
  },
};

/** Whether a test file, by its path in the repository, runs with `--all` only. */
export const isSlow = (file: string): boolean =>
  Object.keys(SLOW).some((it) => (it.endsWith("/") ? file.startsWith(`test/${it}`) : file === `test/${it}`));

/** Set for the suites of `--all`: those that can be long or short are long then. */
export const ALL = "TALLYGATE_TEST_ALL";

/** How many cases of a property are tried: `short` in `bun run test`, `long` with `--all`. */
export const casesTried = (short: number, long: number): number => (process.env[ALL] ? long : short);

/**
 * Processor time in seconds that a folder's suites in `bun run test` may take on two shared cores; a machine of one's own needs
 * about half. The run names each folder that takes more, and does not fail: a busy machine takes more for the same.
 */
export const BUDGET_SECONDS: Readonly<Record<string, number>> = {
  "(Postgres)": 180,
  clients: 130,
  faults: 120,
  "(Chromium)": 95,
  wire: 75,
  reports: 50,
  identity: 48,
  surfaces: 45,
  pages: 38,
  admin: 25,
  stores: 24,
  classifier: 20,
  "github-app": 20,
  rollups: 20,
  limits: 20,
  deploy: 18,
  privacy: 15,
  contract: 15,
  cli: 15,
};
