import type { Database, Transaction } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { providers, routes } from "#drizzle/schema/routes.ts";
import type { ProviderPatch, ProviderPut } from "#shared/admin/providers.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { GatewayError, refuse } from "../errors.ts";
import { PROVIDERS, type ProviderKind } from "../providers/catalog.ts";
import { ownChange } from "./change.ts";
import { headersWithoutSecrets, sealedHeaders, shownHeaders } from "./directory/provider-headers.ts";
import { baseUrlOf, belongingOf, isProviderKind, type ProviderRow } from "./directory/provider-rows.ts";
import { type Edit, namedRows } from "./rows.ts";
import type { Sealer } from "./seal.ts";

export const providerRows = namedRows(providers);

/** @throws GatewayError conflict while a route calls it. */
export async function deleteProvider(tx: Transaction, name: string): Promise<ProviderRow | null> {
  const rows = await tx.select().from(routes).where(ours(routes)).orderBy(routes.name);
  const users = rows.filter((row) => [row, ...row.fallbacks].some((target) => target.provider === name));
  if (users.length > 0) {
    const names = users.map((row) => row.name).join(", ");
    throw new GatewayError("conflict", `The provider ${name} is used by: ${names}.`);
  }
  return providerRows.remove(tx, name);
}

type ProviderEdit = Edit<ProviderRow, ProviderPut | ProviderPatch>;

/**
 * The edited row. A credential that the body omits is kept, unless the edit changes the address: otherwise an
 * administrator who changes it could have the credential sent elsewhere.
 * @throws GatewayError invalid_request for an unknown kind, or one that needs a `base_url` and has none.
 */
export function editedProvider({ name, current, body, merge, sealer, now }: ProviderEdit): ProviderRow {
  const base = merge ? current : null;
  const { kind, baseUrl } = requireAddress(body, base);
  const next = {
    orgId: DEFAULT_ORG,
    name,
    kind,
    baseUrl,
    location: given(body.location, base?.location),
    headers: {},
    models: given(body.models, base?.models),
    responses: body.responses ?? base?.responses ?? true,
    trustedForPassthrough: body.trusted_for_passthrough ?? base?.trustedForPassthrough ?? false,
    subscriptionPassthrough: body.subscription_passthrough ?? base?.subscriptionPassthrough ?? false,
    subscriptionModels: body.subscription_models ?? base?.subscriptionModels ?? [],
    allowPrivateNetwork: body.allow_private_network ?? base?.allowPrivateNetwork ?? false,
    defaultFor: body.default_for ?? base?.defaultFor ?? [],
    streamOptions: given(body.stream_options, base?.streamOptions),
    firstByteSeconds: given(body.first_byte_seconds, base?.firstByteSeconds),
    idleSeconds: given(body.idle_seconds, base?.idleSeconds),
    inFlightMax: given(body.in_flight_max, base?.inFlightMax),
    passThrough: given(body.pass_through, base?.passThrough),
    enabled: body.enabled ?? base?.enabled ?? true,
    createdAt: current?.createdAt ?? now.toISOString(),
    updatedAt: now.toISOString(),
  };
  const sent = credentialsIn(body);
  const same = current && isSameAddress(current, next) ? current : null;
  const kept = same ? storedCredentials(same) : [];
  const [credential = null, ...moreCredentials] =
    sent?.map((secret) => sealer.seal(secret, belongingOf(name))) ?? kept;
  const headers = body.headers
    ? sealedHeaders({ name, headers: withKept(body.headers, same, sealer) }, sealer)
    : headersOf(base, same);
  return { ...next, headers, credential, moreCredentials };
}

const headersOf = (base: ProviderRow | null, same: ProviderRow | null): Record<string, string> =>
  same && base ? base.headers : headersWithoutSecrets(base?.headers ?? {});

/** What was sent, with the stored value where only its end was. @throws GatewayError invalid_request for another end. */
function withKept(
  sent: Record<string, string>,
  same: ProviderRow | null,
  sealer: Sealer,
): Record<string, string> {
  const shown = same ? shownHeaders(same, sealer) : {};
  return Object.fromEntries(
    Object.entries(sent).map(([header, value]) => {
      if (!value.startsWith("…")) return [header, value];
      const kept = shown[header] === value ? same?.headers[header] : undefined;
      if (kept !== undefined) return [header, kept];
      return refuse(`/headers/${header}: Send the whole value.`);
    }),
  );
}

/** Seals the headers that older gateways stored as they were. */
export async function sealStoredHeaders(database: Database, sealer: Sealer): Promise<void> {
  const isOpen = (row: ProviderRow) =>
    JSON.stringify(sealedHeaders(row, sealer)) !== JSON.stringify(row.headers);
  if (!(await providerRows.all(database.db)).some(isOpen)) return;
  await ownChange(database, async (tx) => {
    for (const row of (await providerRows.all(tx)).filter(isOpen)) {
      const headers = sealedHeaders(row, sealer);
      await tx
        .update(providers)
        .set({ headers })
        .where(ours(providers, { name: row.name }));
    }
  });
}

/** @throws GatewayError invalid_request for both members at once. */
function credentialsIn({ credential, credentials }: ProviderPut | ProviderPatch): string[] | null {
  if (credential !== undefined && credentials !== undefined)
    refuse("/credentials: Send either credential or credentials.");
  if (credentials !== undefined) return credentials;
  if (credential === undefined) return null;
  return credential === null ? [] : [credential];
}

/** Sealed. */
export const storedCredentials = ({ credential, moreCredentials }: ProviderRow): string[] =>
  credential === null ? [] : [credential, ...moreCredentials];

/** The body's value, which may be null; absent members keep their value. */
const given = <T>(value: T | null | undefined, current: T | null | undefined): T | null =>
  value === undefined ? (current ?? null) : value;

const isSameAddress = ({ kind, baseUrl }: ProviderRow, next: Address): boolean =>
  isProviderKind(kind) && baseUrlOf({ kind, baseUrl }) === baseUrlOf(next);

type Address = { kind: ProviderKind; baseUrl: string | null };

function requireAddress(body: ProviderPut | ProviderPatch, base: ProviderRow | null): Address {
  const kind = body.kind ?? base?.kind ?? "";
  if (!isProviderKind(kind)) {
    const known = Object.keys(PROVIDERS).join(", ");
    refuse(`/kind: Expected one of ${known}.`);
  }
  const given = body.base_url === undefined ? (base?.baseUrl ?? null) : body.base_url;
  return { kind, baseUrl: given?.replace(/\/+$/, "") ?? null };
}
