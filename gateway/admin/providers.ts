import { ProviderBody, ProviderPatch, ProviderView } from "#shared/admin/providers.ts";
import { viewAs } from "#shared/view-as.ts";
import { refuse } from "../errors.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { shownHeaders } from "../stores/directory/provider-headers.ts";
import {
  baseUrlOf,
  belongingOf,
  environmentCredential,
  isProviderKind,
  type ProviderRow,
  runsIn,
} from "../stores/directory/provider-rows.ts";
import { deleteProvider, editedProvider, providerRows, storedCredentials } from "../stores/providers.ts";
import { lastFour } from "../stores/seal.ts";
import type { AdminDeps } from "./deps.ts";
import { namedResource } from "./named-resource.ts";

/** `/admin/v1/providers`: who answers calls, and with which credential they are asked. */
export const adminProviders = (deps: AdminDeps) =>
  namedResource(deps, {
    path: "providers",
    tag: "providers",
    nouns: { one: "a provider", many: "providers" },
    words: {
      put: {
        description: "Missing fields get their defaults. The credential stays, unless the address changes.",
      },
      patch: { description: "A new `base_url` clears the credential, unless you send one with it." },
      remove: { summary: "Delete a provider that no route uses" },
    },
    schemas: { body: ProviderBody, patch: ProviderPatch, view: ProviderView },
    store: { ...providerRows, remove: deleteProvider },
    audit: {
      set: "provider.set",
      deleted: "provider.deleted",
      secrets: (row, { sealer }) => ({
        credentials: storedCredentials(row).map((sealed) =>
          lastFour(sealer.open(sealed, belongingOf(row.name))),
        ),
      }),
    },
    made: (edit, { sealer }) => editedProvider({ ...edit, merge: false, sealer }),
    patched: (edit, { sealer }) => editedProvider({ ...edit, merge: true, sealer }),
    checkRow: requireSafe,
    view: (row, deps) =>
      viewAs(ProviderView, {
        ...row,
        runsIn: isProviderKind(row.kind) ? runsIn(row, row.kind) : null,
        headers: shownHeaders(row, deps.sealer),
        credentialSource: credentialSource(row, deps.providerKeys),
        credentialCount: credentialCount(row, deps.providerKeys),
        health: healthOf(row, deps),
        learnedWires: learnedOf(row, deps),
      }),
  });

const credentialCount = (row: ProviderRow, providerKeys: AdminDeps["providerKeys"]): number =>
  credentialSource(row, providerKeys) === "environment" ? 1 : storedCredentials(row).length;

const healthOf = ({ name }: ProviderRow, { deployments }: AdminDeps): ProviderView["health"] =>
  deployments
    .states()
    .filter(({ provider }) => provider === name)
    .map(({ provider: _, untilMs, ...state }) => ({
      ...state,
      until: untilMs === null ? null : new Date(untilMs).toISOString(),
    }));

const learnedOf = ({ name }: ProviderRow, { learnedWires }: AdminDeps): ProviderView["learned_wires"] =>
  learnedWires.of(name).map(({ learnedAtMs, ...learned }) => ({
    ...learned,
    learned_at: new Date(learnedAtMs).toISOString(),
  }));

/** Headers that the gateway sets itself, from the credential, or that decide how the connection works. */
const RESERVED_HEADER =
  /^(authorization|proxy-.*|cookie|set-cookie|x-api-key|api-key|x-goog-api-key|host|content-length|transfer-encoding|connection|upgrade|te|trailer|expect)$/i;

/** @throws GatewayError invalid_request for an address or a header that no provider may have. */
export async function requireSafe(row: ProviderRow, deps: AdminDeps): Promise<void> {
  const { kind, baseUrl } = row;
  if (!isProviderKind(kind)) return;
  if (baseUrl === null && PROVIDERS[kind].baseUrl === null)
    refuse(`/base_url: A provider of kind ${kind} needs a base_url.`);
  const reserved = Object.keys(row.headers).find((name) => RESERVED_HEADER.test(name));
  if (reserved) refuse(`/headers/${reserved}: This header is set by the gateway.`);
  if (baseUrl === null) return;
  const fault = await deps.addressGuard.saveFault(baseUrlOf({ kind, baseUrl }), row.allowPrivateNetwork);
  if (fault !== null) refuse(`/base_url: ${fault}.`);
}

function credentialSource(
  { name, kind, baseUrl, credential }: ProviderRow,
  providerKeys: AdminDeps["providerKeys"],
): ProviderView["credential_source"] {
  if (credential !== null) return "stored";
  const inEnvironment = isProviderKind(kind) && environmentCredential({ name, kind, baseUrl }, providerKeys);
  return inEnvironment ? "environment" : "none";
}
