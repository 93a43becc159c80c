import { expect, test } from "bun:test";
import type { Provider } from "#gateway/directory.ts";
import { Secret } from "#gateway/directory.ts";
import { PROVIDERS, type ProviderKind } from "#gateway/providers/catalog.ts";
import { credentialHeader, upstreamUrl, vendorHostsOf, wireFor } from "#gateway/providers/endpoint.ts";
import type { ProviderFacts } from "#gateway/providers/provider-facts.ts";
import { isProviderKind } from "#gateway/stores/directory/provider-rows.ts";
import { WIRE_NAMES, type WireName } from "#gateway/surface-facts.ts";

const ROWS = Object.entries(PROVIDERS) as [ProviderKind, ProviderFacts][];

const provider = (kind: ProviderKind, fields: Partial<Provider> = {}): Provider => ({
  name: kind,
  kind,
  baseUrl: PROVIDERS[kind].baseUrl ?? "https://models.example.org",
  credential: new Secret("sk-test"),
  headers: {},
  models: null,
  responses: true,
  trustedForPassthrough: false,
  subscriptionPassthrough: false,
  subscriptionModels: [],
  allowPrivateNetwork: false,
  defaultFor: [],
  streamOptions: true,
  firstByteMs: 600_000,
  idleMs: 300_000,
  enabled: true,
  ...fields,
});

test("every public root is https without a trailing slash, query or credential", () => {
  for (const [kind, { baseUrl }] of ROWS) {
    if (baseUrl === null || kind === "echo") continue;
    const url = new URL(baseUrl);
    expect(url.protocol).toBe("https:");
    expect(url.origin + (url.pathname === "/" ? "" : url.pathname)).toBe(baseUrl);
  }
});

test("a credential in the environment makes a provider exist only where the root is known", () => {
  const keys = ROWS.flatMap(([, { envKey }]) => (envKey ? [envKey] : []));
  expect(new Set(keys).size).toBe(keys.length);
  expect(ROWS.filter(([, { envKey, baseUrl }]) => envKey !== null && baseUrl === null)).toEqual([]);
});

test.each([
  ["openai", undefined, "https://api.openai.com/v1/chat/completions"],
  ["anthropic", undefined, "https://api.anthropic.com/v1/messages"],
  ["gemini", undefined, "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"],
  ["groq", undefined, "https://api.groq.com/openai/v1/chat/completions"],
  ["perplexity", undefined, "https://api.perplexity.ai/chat/completions"],
  ["azure", "https://x.openai.azure.com", "https://x.openai.azure.com/openai/v1/chat/completions"],
  ["azure", "https://x.openai.azure.com/openai/v1", "https://x.openai.azure.com/openai/v1/chat/completions"],
  ["ollama", "http://127.0.0.1:11434", "http://127.0.0.1:11434/v1/chat/completions"],
  ["ollama", "http://127.0.0.1:11434/api/v1", "http://127.0.0.1:11434/api/v1/chat/completions"],
  ["openai-compatible", "https://models.example.org", "https://models.example.org/chat/completions"],
] as const)("%s at %s is called at %s", (kind, baseUrl, url) => {
  const surface = PROVIDERS[kind].wire === "messages" ? "messages" : "chat.completions";
  const called = { surface, model: "m", streamed: false } as const;
  expect(upstreamUrl(provider(kind, baseUrl ? { baseUrl } : {}), called)).toBe(url);
});

test.each([
  ["openai", ["authorization", "Bearer sk-test"]],
  ["anthropic", ["x-api-key", "sk-test"]],
  ["azure", ["api-key", "sk-test"]],
  ["ollama", ["authorization", "Bearer sk-test"]],
] as const)("%s gets its credential as %p", (kind, header) => {
  expect(credentialHeader(provider(kind), "chat")).toEqual([...header]);
  expect(credentialHeader(provider(kind, { credential: null }), "chat")).toBeNull();
});

const VERTEX = "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1";
test.each([
  [
    "gemini",
    {},
    false,
    "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent",
  ],
  [
    "gemini",
    { baseUrl: "https://proxy.example.com/v1beta" },
    true,
    "https://proxy.example.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
  ],
  [
    "vertex-openai",
    { baseUrl: `${VERTEX}/endpoints/openapi` },
    true,
    `${VERTEX}/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse`,
  ],
] as const)(
  "%s with %p gets a call in Gemini's format (streamed: %p) at %s",
  (kind, fields, streamed, url) => {
    for (const model of ["gemini-3-pro", `${PROVIDERS[kind].modelPrefix}gemini-3-pro`]) {
      expect(upstreamUrl(provider(kind, fields), { surface: "generate_content", model, streamed })).toBe(url);
    }
  },
);

test("Google's own format takes the key in Google's header", () => {
  expect(credentialHeader(provider("gemini"), "gemini")).toEqual(["x-goog-api-key", "sk-test"]);
  expect(credentialHeader(provider("gemini"), "gemini-embeddings")).toEqual(["x-goog-api-key", "sk-test"]);
  expect(credentialHeader(provider("gemini"), "chat")).toEqual(["authorization", "Bearer sk-test"]);
  expect(credentialHeader(provider("vertex-openai"), "gemini")).toBeNull();
});

test("a caller's own subscription may be used only at the vendor's own host", () => {
  const withHosts = ROWS.filter(([, { vendorHosts }]) => vendorHosts.length > 0);
  for (const [kind, { baseUrl }] of withHosts) {
    expect(vendorHostsOf(kind)).toContain(new URL(baseUrl ?? "").hostname);
  }
  expect(vendorHostsOf("openai-compatible")).toEqual([]);
});

test("a provider answers on the asked wire where it speaks it, else on its kind's own", () => {
  const on = (kind: ProviderKind, asked: WireName, fields: Partial<Provider> = {}) =>
    wireFor(provider(kind, fields), asked);
  // It has no addresses of a vendor's own.
  const wires = WIRE_NAMES.filter((wire) => !["bedrock", "cohere", "realtime", "vendor"].includes(wire));
  expect(wires.map((wire) => on("echo", wire))).toEqual(wires);
  expect([on("openai", "messages"), on("anthropic", "chat")]).toEqual(["chat", "messages"]);
  expect([on("groq", "responses"), on("anthropic", "responses")]).toEqual(["responses", "messages"]);
});

test("a provider that has no responses of its own is not asked for them", () => {
  expect(wireFor(provider("openai", { responses: false }), "responses")).toBe("chat");
});

test("a name out of the prototype is no kind of provider", () => {
  expect([isProviderKind("openai"), isProviderKind("constructor"), isProviderKind("")]).toEqual([
    true,
    false,
    false,
  ]);
});
