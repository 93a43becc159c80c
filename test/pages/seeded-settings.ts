import type { GatewayProcess } from "#test/support/gateway-process.ts";

/** Providers, routes, guardrails, tool servers, policies, prices and contracts for a world to look at. None is ever called. */
const RESOURCES: readonly [path: string, body: object][] = [
  ["/providers/anthropic", { kind: "anthropic", credential: "not-a-vendors-key", models: ["claude-*"] }],
  ["/providers/openai", { kind: "openai", credential: "not-a-vendors-key", models: ["gpt-*"] }],
  ["/providers/google", { kind: "gemini", credential: "not-a-vendors-key", models: ["gemini-*"] }],
  ...[
    ["code", "anthropic", "claude-opus-4-6", "Write and change code in a repository"],
    ["review", "anthropic", "claude-sonnet-4-6", "Review a change and find its faults"],
    ["chat", "openai", "gpt-5.2", "Answer questions in a conversation"],
    ["docs", "google", "gemini-3-pro", "Write documentation and release notes"],
  ].map(([name, provider, model, description]): [string, object] => [
    `/routes/${name}`,
    { surface: "chat", provider, model, description },
  ]),
  [
    "/guardrails/no-credentials",
    { match: { detect: ["api_key", "private_key"] }, mode: "enforce", action: "block", position: 10 },
  ],
  ["/guardrails/launch-plans", { match: { pattern: "(?i)launch plan" }, mode: "observe", action: "block" }],
  ["/mcp-servers/github", { url: "https://mcp.example.com/github", credential: "not-a-token" }],
  ["/mcp-servers/jira", { url: "https://mcp.example.com/jira", price_per_call: "0.001" }],
  [
    "/budgets/company",
    { on: { kind: "organisation" }, amount_usd: "60000", period: "quarter", mode: "soft" },
  ],
  ["/budgets/nightly", { on: { kind: "tag", id: "nightly" }, amount_usd: "40", period: "day" }],
  [
    "/alerts/finance",
    {
      on: ["threshold", "forecast_overrun", "anomaly"],
      to: { kind: "slack", url: "https://hooks.example.com/services/finance" },
      enabled: false,
    },
  ],
  [
    "/hook-policies/no-force-push",
    { tool: "Bash", client: "claude-code", reason: "Ask a maintainer to rewrite history." },
  ],
  [
    "/export/destination",
    {
      ...{ endpoint: "https://s3.eu-central-1.amazonaws.com", bucket: "acme-ai-costs", enabled: false },
      ...{ access_key_id: "AKIDEXAMPLE", secret_access_key: "not-a-secret" },
    },
  ],
];

const SINCE = "2026-01-01T00:00:00Z";
/** What contracts, subscriptions and automation are. */
const CONTRACTS: readonly [path: string, body: object][] = [
  ["/discounts", { provider: "google", percent: "12.5", effective_from: SINCE }],
  ...[1, 2, 3].map((n): [string, object] => [
    "/seats",
    {
      ...{ person: `dev-${n}@example.com`, vendor: "claude", plan: "Max" },
      ...{ monthly_usd: "100", effective_from: SINCE },
    },
  ]),
  [
    "/commitments",
    {
      ...{ name: "Provisioned throughput", kind: "commitment", provider: "openai", amount_usd: "12000" },
      ...{ effective_from: SINCE, effective_to: "2027-01-01T00:00:00Z" },
    },
  ],
  ["/tokens", { name: "nightly-report", scopes: ["reports"] }],
];

const PRICES: readonly object[] = [
  {
    model: "claude-opus-4-6",
    provider: "anthropic",
    effective_from: "2026-01-01T00:00:00Z",
    input: "5",
    output: "25",
    cached_input: "0.5",
  },
  {
    model: "claude-opus-4-6",
    provider: "anthropic",
    effective_from: "2027-01-01T00:00:00Z",
    input: "4.5",
    output: "22.5",
    cached_input: "0.45",
  },
];

/** A report that somebody saved. */
export const SAVED_REPORT = "commerce-by-model";

/** Configures a gateway as an organisation would. */
export async function seedSettings(gateway: Pick<GatewayProcess, "admin">): Promise<void> {
  for (const [path, body] of RESOURCES) await gateway.admin("PUT", path, body);
  for (const price of PRICES) await gateway.admin("POST", "/prices", price);
  for (const [path, body] of CONTRACTS) await gateway.admin("POST", path, body);
  await gateway.admin("POST", "/reports", {
    id: SAVED_REPORT,
    title: "Commerce by model",
    description: "What the department of commerce spends, week by week.",
    spec: {
      source: "requests",
      dimensions: ["week", "model"],
      measures: ["cost_usd"],
      filters: { team: ["commerce"] },
      range: "30d",
      compare: "none",
      view: "stacked",
    },
  });
  await gateway.admin("PATCH", "/settings", { pull_request_stamping: true, retention_days: 400 });
  await gateway.admin("POST", "/role-mappings", { group: "engineering", role: "member", team: "platform" });
}
