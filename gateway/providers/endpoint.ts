import type { Provider } from "../directory.ts";
import type { SurfaceFacts, SurfaceName, WireName } from "../surface-facts.ts";
import { SURFACES, surfaceFacts } from "../surface-facts.ts";
import { PROVIDERS, type ProviderKind } from "./catalog.ts";
import type { ProviderFacts } from "./provider-facts.ts";

// How a provider is called: in which format, where, and with what credential. All of it follows from the catalogue.

/** The wire to call a provider on: `preferred` if the provider supports it, else its kind's own. */
export function wireFor(
  { kind, responses }: Pick<Provider, "kind" | "responses">,
  preferred: WireName,
): WireName {
  const { wire, otherWires }: ProviderFacts = PROVIDERS[kind];
  if (preferred === "responses" && !responses) return wire;
  return otherWires.includes(preferred) ? preferred : wire;
}

/** Whether a provider has the surface itself, without translation. */
export function supportsSurface(
  provider: Pick<Provider, "kind" | "responses">,
  surface: SurfaceName,
): boolean {
  const { wire } = SURFACES[surface];
  const { lacks, allResponses }: ProviderFacts = PROVIDERS[provider.kind];
  if (surface.startsWith("responses.") && allResponses !== true) return false;
  return wireFor(provider, wire) === wire && lacks?.includes(surface) !== true;
}

/** Whether a kind is known to lack a wire for a model that it has for others. */
export function lacksWire(kind: ProviderKind, model: string | null, wire: WireName): boolean {
  const { withoutChat }: ProviderFacts = PROVIDERS[kind];
  return wire === "chat" && model !== null && withoutChat?.test(model) === true;
}

/** The wires that a call of another format can be translated into for a model, best first. */
export function targetWires(
  provider: Pick<Provider, "kind" | "responses">,
  model: string | null,
): WireName[] {
  const { wire, geminiRoot, responsesModels }: ProviderFacts = PROVIDERS[provider.kind];
  if (geminiRoot?.models.test(model ?? "")) return ["gemini"];
  if (wire !== "chat" || wireFor(provider, "responses") !== "responses") return [wire];
  return responsesModels?.test(model ?? "") ? ["responses", "chat"] : ["chat", "responses"];
}

/** Open models whose vendors want their thoughts back; servers that others run pass these on. */
const WANTS_THOUGHTS = /deepseek|kimi|glm-/i;
const OPEN_SERVERS: readonly ProviderKind[] = ["openai-compatible", "vllm", "fireworks"];

const SEARCHERS: readonly ProviderKind[] = [
  ...(["openai", "xai", "anthropic", "vertex", "gemini", "vertex-openai"] as const),
];

/** Whether a provider searches the web itself when asked on a wire. */
export const searches = (kind: ProviderKind, wire: WireName): boolean =>
  wire !== "chat" && SEARCHERS.includes(kind);

export function thoughtsOf(kind: ProviderKind, model: string) {
  const { thoughts }: ProviderFacts = PROVIDERS[kind];
  const isOpen = OPEN_SERVERS.includes(kind) && WANTS_THOUGHTS.test(model);
  const back = isOpen ? ({ in: "reasoning_content" } as const) : {};
  return { vendor: kind as string, ...back, ...thoughts };
}

/** The part of a call that determines its URL at the provider. */
type Called = { surface: SurfaceName; model: string | null; streamed: boolean };

/** URL of a surface at a provider, which must support the surface's wire. */
export function upstreamUrl(provider: Provider, called: Called): string {
  const { surface } = called;
  const facts: ProviderFacts = PROVIDERS[provider.kind];
  const { methods } = surfaceFacts(surface);
  if (methods) return geminiUrl(provider, called, methods);
  if (SURFACES[surface].wire === "bedrock") return bedrockUrl(provider, called);
  const atHost = facts.hostPaths?.[surface];
  if (atHost !== undefined) return new URL(provider.baseUrl).origin + atHost;
  return providerUrl(provider, facts.paths?.[surface] ?? SURFACES[surface].upstreamPath);
}

function bedrockUrl({ baseUrl }: Provider, { surface, model, streamed }: Called): string {
  const { path, aliases: [ofStreams = path] = [] } = surfaceFacts(surface);
  return baseUrl + (streamed ? ofStreams : path).replace("{model}", encodeURIComponent(model ?? ""));
}

/** In Gemini's format the model and the method are in the path. Streams are always requested as events. */
function geminiUrl(
  { kind, baseUrl }: Provider,
  { model, streamed, surface }: Called,
  methods: NonNullable<SurfaceFacts["methods"]>,
): string {
  const { geminiRoot, modelPrefix = "" }: ProviderFacts = PROVIDERS[kind];
  const { instead, put } = geminiRoot ?? { instead: "", put: "" };
  const root = instead && baseUrl.endsWith(instead) ? baseUrl.slice(0, -instead.length) : baseUrl;
  const name = model ?? "";
  const bare = modelPrefix && name.startsWith(modelPrefix) ? name.slice(modelPrefix.length) : name;
  const method = streamed && methods.streamed ? `${methods.streamed}?alt=sse` : methods.whole;
  return `${root}${put}${SURFACES[surface].upstreamPath}/${encodeURIComponent(bare)}:${method}`;
}

/** An address below a provider's API root. */
export function providerUrl({ kind, baseUrl }: Provider, path: string): string {
  const { rootPath }: ProviderFacts = PROVIDERS[kind];
  const bare = rootPath !== undefined && new URL(baseUrl).pathname === "/";
  return (bare ? new URL(baseUrl).origin + rootPath : baseUrl) + path;
}

/** A path of the vendor's own: below its API root without what its kind always has there, such as `/v1`. */
export function vendorUrl({ kind, baseUrl }: Provider, path: string): string {
  const { baseUrl: own, rootPath }: ProviderFacts = PROVIDERS[kind];
  const root = rootPath ?? (own === null ? "/v1" : new URL(own).pathname);
  return (baseUrl.endsWith(root) ? baseUrl.slice(0, -root.length) : baseUrl) + path;
}

/** The header that carries the provider's credential; null where none is set, or it signs calls and is never sent. */
export function credentialHeader(provider: Provider, wire: WireName): [name: string, value: string] | null {
  if (!provider.credential) return null;
  const secret = provider.credential.reveal();
  const { auth }: ProviderFacts = PROVIDERS[provider.kind];
  if (auth === "aws" || auth === "google") return null;
  const isGoogles = wire === "vendor" && provider.kind === "gemini";
  if (isGoogles || wire === "gemini" || wire === "gemini-embeddings") return ["x-goog-api-key", secret];
  return auth === "x-api-key" || auth === "api-key" ? [auth, secret] : ["authorization", `Bearer ${secret}`];
}

export const vendorHostsOf = (kind: ProviderKind): readonly string[] => PROVIDERS[kind].vendorHosts;
