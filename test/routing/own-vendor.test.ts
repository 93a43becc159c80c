import { expect, test } from "bun:test";
import { Secret } from "#gateway/directory.ts";
import { GatewayError } from "#gateway/errors.ts";
import { routingLookups } from "#gateway/exchange.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import type { ProviderKind } from "#gateway/providers/catalog.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { chooseRoute } from "#gateway/routing/choose.ts";
import { servedModel } from "#gateway/routing/served-model.ts";
import type { SurfaceName } from "#gateway/surface-facts.ts";
import { call, directory, key, provider } from "./world.ts";

// The real catalogue and price list: each provider is named like its kind, so of equals the first by name wins.

const known = routingLookups(priceBook([], PROVIDERS));
const VERTEX = "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1";

const worldOf = (kinds: readonly ProviderKind[]) =>
  directory({
    providers: kinds.map((kind) => {
      const baseUrl = PROVIDERS[kind].baseUrl ?? VERTEX;
      return provider(kind, { kind, baseUrl, credential: new Secret("k") });
    }),
  });

function chosen(model: string, kinds: readonly ProviderKind[], surface: SurfaceName): string {
  try {
    return chooseRoute(worldOf(kinds), call({ surface, model }), known).targets[0].provider.name;
  } catch (error) {
    if (error instanceof GatewayError) return error.type;
    throw error;
  }
}

const TEXT = ["chat.completions", "messages", "responses"] as const;

test.each<[string, string, ProviderKind[]]>([
  ["anthropic", "claude-sonnet-4-5", ["anthropic", "gemini"]],
  ["anthropic", "claude-sonnet-4-5", ["anthropic", "gemini", "openai"]],
  ["anthropic", "claude-opus-5", ["anthropic", "bedrock", "bedrock-mantle", "bedrock-openai"]],
  ["anthropic", "claude-sonnet-4-5", ["anthropic", "azure", "openrouter", "vertex", "vertex-openai"]],
  ["anthropic", "claude-of-tomorrow", ["anthropic", "gemini", "openai"]],
  ["vertex", "claude-sonnet-4-5", ["gemini", "openai", "vertex", "vertex-openai"]],
  ["bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0", ["bedrock", "bedrock-openai", "openai"]],
  ["vertex-openai", "google/gemini-2.5-pro", ["gemini", "vertex", "vertex-openai"]],
  ["gemini", "gemini-2.5-pro", ["anthropic", "gemini", "openai", "vertex", "vertex-openai"]],
  ["gemini", "models/gemini-2.5-pro", ["anthropic", "gemini"]],
  ["openai", "gpt-4o", ["azure", "openai", "openrouter"]],
  ["azure", "gpt-4o", ["anthropic", "azure", "gemini"]],
  ["mistral", "mistral-large-latest", ["azure", "mistral", "openrouter"]],
  ["xai", "grok-3", ["azure", "xai"]],
  ["openrouter", "anthropic/claude-sonnet-4.5", ["anthropic", "gemini", "openrouter"]],
  ["openrouter", "google/gemini-2.5-pro", ["gemini", "openrouter"]],
  ["openrouter", "meta-llama/llama-3.3-70b-instruct", ["bedrock-openai", "groq", "openrouter"]],
  ["groq", "llama-3.3-70b-versatile", ["gemini", "groq", "openai"]],
  ["model_not_found", "claude-sonnet-4-5", ["gemini", "openai"]],
])("%s serves %s, on each surface, of %p", (expected, model, kinds) => {
  expect(TEXT.map((surface) => chosen(model, kinds, surface))).toEqual([expected, expected, expected]);
  const listed = servedModel({ directory: worldOf(kinds), key: key(), model, knowledge: known });
  expect(listed?.provider.name ?? "model_not_found").toBe(expected);
});

test("a provider that still lacks its credential is passed over while another serves the model", () => {
  const facts = { kind: "openai", models: ["gpt-4o", "m"] } as const;
  const lacking = provider("a", facts);
  const ready = provider("b", { ...facts, credential: new Secret("k") });
  const chosenOf = (it: Parameters<typeof provider>[1], model = "gpt-4o") =>
    chooseRoute(directory({ providers: [{ ...lacking, ...it }, ready] }), call({ model }), known).targets[0]
      .provider.name;
  expect([chosenOf({}), chosenOf({}, "m"), chosenOf({ models: null })]).toEqual(["b", "b", "b"]);
  expect([chosenOf({ kind: "vllm" }, "m"), chosenOf({ subscriptionPassthrough: true })]).toEqual(["a", "a"]);
  expect(
    servedModel({ directory: directory({ providers: [lacking] }), key: key(), model: "m", knowledge: known })
      ?.provider.name,
  ).toBe("a");
});

test("the vendor is passed over where it cannot take the surface at all", () => {
  const kinds: ProviderKind[] = ["cohere", "openrouter"];
  expect(chosen("command-r", kinds, "chat.completions")).toBe("cohere");
  expect(chosen("text-embedding-3-small", ["azure", "openai"], "embeddings")).toBe("openai");
  expect(chosen("command-r", kinds, "completions")).toBe("openrouter");
});

test("open weights named like a vendor's models are not taken to be its own", () => {
  expect(chosen("gpt-oss-120b", ["cerebras", "openai"], "chat.completions")).toBe("cerebras");
});
