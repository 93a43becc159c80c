import type { Provider } from "../directory.ts";
import { SURFACES, type SurfaceName, type WireName } from "../surface-facts.ts";
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
  const { lacks }: ProviderFacts = PROVIDERS[provider.kind];
  return wireFor(provider, wire) === wire && lacks?.includes(surface) !== true;
}

/** URL of a surface at a provider, which must support the surface's wire. */
export function upstreamUrl(provider: Provider, surface: SurfaceName): string {
  const facts: ProviderFacts = PROVIDERS[provider.kind];
  const atHost = facts.hostPaths?.[surface];
  if (atHost !== undefined) return new URL(provider.baseUrl).origin + atHost;
  return providerUrl(provider, facts.paths?.[surface] ?? SURFACES[surface].upstreamPath);
}

/** An address below a provider's API root. */
export function providerUrl({ kind, baseUrl }: Provider, path: string): string {
  const { rootPath }: ProviderFacts = PROVIDERS[kind];
  const bare = rootPath !== undefined && new URL(baseUrl).pathname === "/";
  return (bare ? new URL(baseUrl).origin + rootPath : baseUrl) + path;
}

/** The header that carries the provider's credential; null where none is set, or it signs calls and is never sent. */
export function credentialHeader(provider: Provider): [name: string, value: string] | null {
  if (!provider.credential) return null;
  const secret = provider.credential.reveal();
  const { auth }: ProviderFacts = PROVIDERS[provider.kind];
  if (auth === "aws" || auth === "google") return null;
  return auth === "x-api-key" || auth === "api-key" ? [auth, secret] : ["authorization", `Bearer ${secret}`];
}

export const vendorHostsOf = (kind: ProviderKind): readonly string[] => PROVIDERS[kind].vendorHosts;
