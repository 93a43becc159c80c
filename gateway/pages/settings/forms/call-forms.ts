import { AlertBody, AlertPatch } from "#shared/admin/alerts.ts";
import { DiscountBody, DiscountPatch } from "#shared/admin/discounts.ts";
import { GuardrailBody, GuardrailPatch } from "#shared/admin/guardrails.ts";
import { HookPolicyBody, HookPolicyPatch } from "#shared/admin/hook-policies.ts";
import { McpServerBody, McpServerPatch } from "#shared/admin/mcp-servers.ts";
import { PriceBody, PricePatch } from "#shared/admin/prices.ts";
import { ProviderBody, ProviderPatch } from "#shared/admin/providers.ts";
import { RouteBody, RoutePatch } from "#shared/admin/routes.ts";
import { formOf, type Words } from "./field.ts";

/** How what calls go through is entered: labels in the order of the forms, and where the schemas' words do not fit, others. */

const PRIVATE = "Allow plain http, loopback and private addresses";
const SUBSCRIPTIONS = "Callers' own subscriptions may pay";
const FIRST_BYTE = "First byte within, seconds";
const IDLE = "Longest pause, seconds";
const SECRET = {
  label: "Credential",
  isSecret: true,
  nothing: "Delete the stored credential",
  help: "Stored encrypted and never shown again. Leave it empty to keep the current one.",
} as const;

const PROVIDER_NAME: Words = { label: "Provider", help: "", suggest: "provider" };
const MODEL_NAME: Words = { label: "Model", help: "", suggest: "model" };

export const ALERT = formOf(AlertBody, AlertPatch, {
  name: "Name",
  on: "About",
  to: {
    label: "To",
    members: {
      kind: { label: "Kind", help: "" },
      url: {
        label: "Address",
        help: "Of the webhook; for e-mail `smtps://user:password@server`. Stored encrypted: enter it again to change anything here.",
      },
      secret: {
        label: "Signing secret",
        isSecret: true,
        help: "Of a webhook: `whsec_` and at least 16 bytes in base64.",
      },
      addresses: { label: "E-mail addresses" },
      from: { label: "Sender of e-mails", help: "" },
      allow_private_network: PRIVATE,
    },
  },
  enabled: "On",
});

export const PROVIDER = formOf(ProviderBody, ProviderPatch, {
  name: "Name",
  kind: "Kind",
  credential: {
    ...SECRET,
    help: `The vendor's API key; for Bedrock also \`AKID:SECRET\` or \`AKID:SECRET:TOKEN\`, for Vertex a service account's key file on one line. ${SECRET.help}`,
  },
  credentials: {
    label: "Several credentials",
    isSecret: true,
    item: "credential",
    help: "API keys of one account, instead of the one above: calls are spread over them.",
  },
  base_url: "Address",
  location: { label: "Location", placeholder: "as the address says" },
  models: { label: "Models", placeholder: "gpt-*", suggest: "model" },
  default_for: "Default for",
  headers: { label: "Headers", item: "header" },
  first_byte_seconds: FIRST_BYTE,
  idle_seconds: IDLE,
  in_flight_max: "Calls in flight, at most",
  pass_through: {
    label: "Pass-through",
    members: { paths: { label: "Paths", placeholder: "/v1/vector_stores*" } },
  },
  stream_options: { label: "Accepts stream_options", none: "as its kind does" },
  responses: "Serves /v1/responses itself",
  subscription_passthrough: SUBSCRIPTIONS,
  subscription_models: {
    label: "Models that subscriptions may pay for",
    help: "Globs: where the switch above is off.",
    suggest: "model",
  },
  trusted_for_passthrough: "Callers' own credentials may be passed to it",
  allow_private_network: PRIVATE,
  enabled: "Enabled",
});

export const ROUTE = formOf(RouteBody, RoutePatch, {
  name: {
    label: "Name",
    help: "What callers send as `model`: 1 to 64 of a-z, 0-9, ., _, / and -, such as gpt-5.4.",
  },
  surface: "Surface",
  provider: PROVIDER_NAME,
  model: MODEL_NAME,
  weight: { label: "Weight", help: "Share of the calls, if fallbacks have weights too." },
  fallbacks: {
    label: "Fallbacks",
    item: "fallback",
    members: {
      provider: PROVIDER_NAME,
      model: MODEL_NAME,
      weight: { label: "Weight", help: "" },
    },
  },
  description: "Description",
  examples: { label: "Examples", item: "example" },
  keywords: "Keywords",
  guardrails: { label: "Guardrails", suggest: "guardrail" },
  first_byte_seconds: FIRST_BYTE,
  idle_seconds: IDLE,
  refuse_with: "Refuse with",
  inexpressible: "Inexpressible members",
  usage_chunk: "Usage chunk",
  on_client_gone: "When the client hangs up",
  subscription_passthrough: SUBSCRIPTIONS,
  body_capture: {
    label: "Capture bodies",
    help: "Stores prompts and answers, encrypted, for at most 7 days. Every read is audited.",
  },
  enabled: "Enabled",
});

export const GUARDRAIL = formOf(GuardrailBody, GuardrailPatch, {
  name: "Name",
  position: "Position",
  mode: { label: "Mode", initial: "observe" },
  action: "Action",
  match: {
    label: "Conditions",
    help: "All of them must hold. Without any, it applies on the routes that list it.",
    members: {
      pattern: "Pattern",
      detect: "Detectors",
      models: { label: "Models", suggest: "model" },
      routes: { label: "Routes", suggest: "route" },
      tags: { label: "Tags", suggest: "tag" },
      keys: { label: "Keys", suggest: "key" },
      clients: { label: "Clients", suggest: "client" },
    },
  },
  callout: {
    label: "Callout",
    toggle: "Ask another service",
    members: {
      url: "Address",
      timeout_ms: { label: "Timeout, milliseconds", initial: "1000" },
      on_failure: "On failure",
      allow_private_network: PRIVATE,
    },
  },
  message: "Message",
  enabled: "Enabled",
});

export const PRICE = formOf(PriceBody, PricePatch, {
  model: { label: "Model", suggest: "model" },
  provider: { label: "Provider", suggest: "provider" },
  effective_from: "In force from",
  tier: { label: "Service tier", placeholder: "standard" },
  multiplier: "Times the list's price",
  input: "Input",
  output: "Output",
  cached_input: "Input from the cache",
  cache_write_5m: "Cache write, five minutes",
  cache_write_1h: "Cache write, one hour",
  per_image: "Per image",
  per_character: "Per character of speech",
  per_call: "Per call",
});

export const DISCOUNT = formOf(DiscountBody, DiscountPatch, {
  provider: { label: "Provider", suggest: "provider" },
  percent: "Percent off the list price",
  effective_from: "From",
  effective_to: "Until",
  models: { label: "Models", suggest: "model" },
  tiers: { label: "Service tiers", placeholder: "standard" },
});

export const TOOL_SERVER = formOf(McpServerBody, McpServerPatch, {
  name: "Name",
  url: { label: "Address", placeholder: "https://tools.example.com/mcp" },
  credential: SECRET,
  credential_header: "Header of the credential",
  tools: {
    label: "Tools",
    members: {
      allow: { label: "Tools to offer", nothing: "No tool" },
      deny: { label: "Tools to hide", help: "Globs, one a line. These win." },
    },
  },
  price_per_call: "Price of a call, USD",
  prices: {
    label: "Prices by tool",
    item: "price",
    members: { name: "Tool", value: { label: "USD", help: "" } },
  },
  allow_private_network: PRIVATE,
  enabled: "Enabled",
});

export const HOOK_POLICY = formOf(HookPolicyBody, HookPolicyPatch, {
  name: "Name",
  tool: { label: "Tool", placeholder: "Bash", suggest: "tool" },
  server: { label: "Server", suggest: "tool_server" },
  client: { label: "Agent", placeholder: "claude-code", suggest: "client" },
  action: "Action",
  reason: "Reason",
  enabled: "Enabled",
});
