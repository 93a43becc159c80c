import type { providers } from "#drizzle/schema/routes.ts";
import { PROVIDER_TIMEOUTS } from "#shared/admin/providers.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { picked } from "#shared/keys-of.ts";
import type { Provider, Secret } from "../../directory.ts";
import { PROVIDERS, type ProviderKind } from "../../providers/catalog.ts";
import { locationOf } from "../../providers/places.ts";
import type { ProviderFacts } from "../../providers/provider-facts.ts";
import { isSurfaceName } from "../../surface-facts.ts";
import type { SealContext, Sealer } from "../seal.ts";
import { openHeaders } from "./provider-headers.ts";

export type ProviderRow = typeof providers.$inferSelect;

/** Where credentials come from: the database, sealed, or the environment of this process. */
export type CredentialSources = {
  sealer: Sealer;
  /** By the environment variables that the catalogue names (`OPENAI_API_KEY`, …). */
  providerKeys: ReadonlyMap<string, Secret>;
};

export const isProviderKind = (kind: string): kind is ProviderKind => Object.hasOwn(PROVIDERS, kind);

/** The API root in use: the administrator's, else the vendor's; empty for a provider that answers in process. */
export const baseUrlOf = ({ kind, baseUrl }: { kind: ProviderKind; baseUrl: string | null }): string =>
  (baseUrl ?? PROVIDERS[kind].baseUrl ?? "").replace(/\/+$/, "");

/** The provider that a row describes; null for a kind that this version does not know. */
export function providerOf(row: ProviderRow, sources: CredentialSources): Provider | null {
  const { kind } = row;
  if (!isProviderKind(kind)) return null;
  return {
    ...picked(row, ["name", "models", "responses", "trustedForPassthrough", "subscriptionPassthrough"]),
    ...picked(row, ["subscriptionModels", "allowPrivateNetwork", "inFlightMax", "enabled"]),
    kind,
    baseUrl: baseUrlOf({ kind, baseUrl: row.baseUrl }),
    location: runsIn(row, kind),
    defaultFor: row.defaultFor.filter(isSurfaceName),
    streamOptions: row.streamOptions ?? PROVIDERS[kind].acceptsStreamUsageOption,
    firstByteMs: (row.firstByteSeconds ?? PROVIDER_TIMEOUTS.firstByteSeconds) * 1000,
    idleMs: (row.idleSeconds ?? PROVIDER_TIMEOUTS.idleSeconds) * 1000,
    passThrough: row.passThrough?.paths ?? [],
    ...credentialsOf({ ...row, kind }, sources),
    ...headersOf(row, sources),
  };
}

/** Without the credential that an administrator gave it, a provider is never called: others may take its calls. */
function credentialsOf(
  row: ProviderRow & { kind: ProviderKind },
  { sealer, providerKeys }: CredentialSources,
): Pick<Provider, "credential" | "credentials"> & { enabled?: false } {
  if (row.credential === null) return { credential: environmentCredential(row, providerKeys) };
  const open = (sealed: string) => sealer.open(sealed, belongingOf(row.name));
  const all = [row.credential, ...row.moreCredentials].flatMap((sealed) => open(sealed) ?? []);
  const [credential = null] = all;
  if (credential === null) return { credential, enabled: false };
  return all.length > 1 ? { credential, credentials: all } : { credential };
}

function headersOf(
  row: ProviderRow,
  { sealer }: CredentialSources,
): Pick<Provider, "headers"> & { enabled?: false } {
  const headers = openHeaders(row, sealer);
  return headers === null ? { headers: {}, enabled: false } : { headers };
}

/** The owner that a provider's credential is sealed for. */
export const belongingOf = (provider: string): SealContext => ({
  orgId: DEFAULT_ORG,
  provider,
  purpose: "credential",
});

/** Where its models run (providers/places.ts). */
export function runsIn({ location, baseUrl }: ProviderRow, kind: ProviderKind): string | null {
  const { places }: ProviderFacts = PROVIDERS[kind];
  return locationOf(places, { baseUrl: baseUrlOf({ kind, baseUrl }), set: location });
}

type Named = { name: string; kind: ProviderKind; baseUrl: string | null };

/** The environment's credential, for the provider named like its kind and the vendor's own address only. */
export function environmentCredential(
  { name, kind, baseUrl }: Named,
  providerKeys: ReadonlyMap<string, Secret>,
): Secret | null {
  const { envKey } = PROVIDERS[kind];
  const isVendors = name === kind && baseUrl === null;
  return (isVendors && envKey !== null && providerKeys.get(envKey)) || null;
}
