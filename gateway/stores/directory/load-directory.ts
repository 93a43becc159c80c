import { and, desc, eq, isNull } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { keySecrets, keys } from "#drizzle/schema/keys.ts";
import { prices } from "#drizzle/schema/prices.ts";
import { directoryVersions, providers, routes } from "#drizzle/schema/routes.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Log } from "#shared/log.ts";
import type { ClientKey, Directory, PriceOverride, Provider, Route } from "../../directory.ts";
import type { Reader } from "../change.ts";
import { readSettings } from "../settings.ts";
import { withStoreErrors } from "../store-errors.ts";
import { loadHookPolicies } from "../tools/hook-policies.ts";
import { loadToolServers } from "../tools/mcp-servers.ts";
import { loadGuardrails } from "./load-guardrails.ts";
import { type CredentialSources, providerOf } from "./provider-rows.ts";

/** How often administrators have changed something; 0 before the first change. */
export const readVersion = (database: Database): Promise<number> =>
  withStoreErrors(() => versionIn(database.db));

/** The same, as a transaction sees it: 1 is the very first change. */
export async function versionIn(reader: Reader): Promise<number> {
  const [row] = await reader
    .select({ version: directoryVersions.version })
    .from(directoryVersions)
    .where(eq(directoryVersions.orgId, DEFAULT_ORG));
  return row?.version ?? 0;
}

/** All that administrators set, from one snapshot of the database. */
export const loadDirectory = (
  database: Database,
  sources: CredentialSources & { log: Log },
): Promise<Directory> =>
  withStoreErrors(() =>
    database.db.transaction(
      async (tx) => ({
        version: await versionIn(tx),
        keys: await loadKeys(tx),
        providers: await loadProviders(tx, sources),
        routes: await loadRoutes(tx),
        prices: await loadPrices(tx),
        guardrails: await loadGuardrails(tx, sources.log),
        hookPolicies: await loadHookPolicies(tx),
        toolServers: await loadToolServers(tx, sources),
        settings: await readSettings(tx),
      }),
      { isolationLevel: "repeatable read", accessMode: "read only" },
    ),
  );

const keyColumns = {
  id: keys.id,
  name: keys.name,
  owner: keys.owner,
  scopes: keys.scopes,
  limits: keys.limits,
  expiresAt: keys.expiresAt,
  sha256: keySecrets.sha256,
  graceEndsAt: keySecrets.expiresAt,
};

/** Every secret of a key that is not revoked, with its key. Expired ones are among them: the clock decides later. */
export const selectKeySecrets = (reader: Reader) =>
  reader
    .select(keyColumns)
    .from(keySecrets)
    .innerJoin(keys, and(eq(keys.orgId, keySecrets.orgId), eq(keys.id, keySecrets.keyId)))
    .$dynamic();

export const notRevoked = and(eq(keySecrets.orgId, DEFAULT_ORG), isNull(keys.revokedAt));

type KeySecretRow = Awaited<ReturnType<typeof selectKeySecrets>>[number];

/** By lower-case hex SHA-256 of the secret. */
export const keysBySecret = (rows: KeySecretRow[]): Map<string, ClientKey> =>
  new Map(rows.map((row) => [Buffer.from(row.sha256).toString("hex"), clientKeyOf(row)]));

function clientKeyOf({ id, name, owner, scopes, limits, expiresAt, graceEndsAt }: KeySecretRow): ClientKey {
  const ends = [expiresAt, graceEndsAt].filter((end) => end !== null).map((end) => Date.parse(end));
  return { id, name, owner, scopes, limits, expiresAtMs: ends.length > 0 ? Math.min(...ends) : null };
}

const loadKeys = async (tx: Reader) => keysBySecret(await selectKeySecrets(tx).where(notRevoked));

async function loadProviders(tx: Reader, sources: CredentialSources & { log: Log }) {
  const found = new Map<string, Provider>();
  for (const row of await tx.select().from(providers).where(eq(providers.orgId, DEFAULT_ORG))) {
    const provider = providerOf(row, sources);
    if (provider) found.set(row.name, provider);
    else sources.log.warn({ provider: row.name }, "provider of an unknown kind");
    if (provider && row.credential !== null && provider.credential === null) {
      sources.log.error({ provider: row.name }, "stored credential cannot be decrypted with this master key");
    }
  }
  return found;
}

async function loadRoutes(tx: Reader): Promise<Map<string, Route>> {
  const rows = await tx.select().from(routes).where(eq(routes.orgId, DEFAULT_ORG)).orderBy(routes.name);
  return new Map(
    rows.map(({ orgId: _, createdAt, updatedAt: __, ...route }) => [
      route.name,
      { ...route, createdAtMs: Date.parse(createdAt) },
    ]),
  );
}

async function loadPrices(tx: Reader): Promise<PriceOverride[]> {
  const rows = await tx
    .select()
    .from(prices)
    .where(eq(prices.orgId, DEFAULT_ORG))
    .orderBy(desc(prices.effectiveFrom), desc(prices.id));
  return rows.map(({ orgId: _, createdAt: __, effectiveFrom, ...price }) => ({
    ...price,
    effectiveFromMs: Date.parse(effectiveFrom),
  }));
}
