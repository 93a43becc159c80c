import { and, desc, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { joinedOn, ours } from "#drizzle/ours.ts";
import type { SharedBudget } from "#drizzle/schema/budgets.ts";
import { people } from "#drizzle/schema/identity.ts";
import { keySecrets, keys } from "#drizzle/schema/keys.ts";
import { prices } from "#drizzle/schema/prices.ts";
import { directoryVersions, providers, routes } from "#drizzle/schema/routes.ts";
import { picked } from "#shared/keys-of.ts";
import type { Log } from "#shared/log.ts";
import { DEFAULT_SETTINGS, type Settings } from "#shared/settings.ts";
import type {
  ClientKey,
  Directory,
  Discount,
  HookPolicy,
  ListedChange,
  PriceOverride,
  Provider,
  Route,
} from "../../directory.ts";
import { personAccounts } from "../../limits/account-ids.ts";
import type { Reader } from "../change.ts";
import { loadDiscounts } from "../discounts.ts";
import type { GuardrailRow } from "../guardrails.ts";
import { countsKey, isOfCalls, loadSharedBudgets } from "../named-budgets.ts";
import { loadListed } from "../price-list.ts";
import { readSettings } from "../settings.ts";
import { withStoreErrors } from "../store-errors.ts";
import { allTeams } from "../teams.ts";
import { loadHookPolicies } from "../tools/hook-policies.ts";
import { type McpServerRow, selectToolServers, toolServersOf } from "../tools/mcp-servers.ts";
import { guardrailsOf, selectGuardrails } from "./load-guardrails.ts";
import { type CredentialSources, type ProviderRow, providerOf } from "./provider-rows.ts";
import { budgetOf, teamLookup } from "./team-lookup.ts";

/** How often administrators have changed something; 0 before the first change. */
export const readVersion = (database: Database): Promise<number> =>
  withStoreErrors(() => versionIn(database.db));

/** The same, as a transaction sees it: 1 is the very first change. */
export async function versionIn(reader: Reader): Promise<number> {
  const [row] = await reader
    .select({ version: directoryVersions.version })
    .from(directoryVersions)
    .where(ours(directoryVersions));
  return row?.version ?? 0;
}

/** All that administrators set, as the database has it. JSON keeps it whole, and credentials stay sealed. */
export type DirectoryRows = {
  version: number;
  /** By lower-case hex SHA-256 of the secret. */
  keys: [sha256Hex: string, key: ClientKey][];
  providers: ProviderRow[];
  routes: Route[];
  prices: PriceOverride[];
  discounts: Discount[];
  listed: readonly ListedChange[];
  listFetchedAt: string | null;
  guardrails: GuardrailRow[];
  hookPolicies: HookPolicy[];
  callBudgets: SharedBudget[];
  toolServers: McpServerRow[];
  settings: Settings;
};

/** Before there is a directory. */
export const NO_DIRECTORY: Directory = {
  version: 0,
  keys: new Map(),
  providers: new Map(),
  routes: new Map(),
  prices: [],
  discounts: [],
  listed: [],
  listFetchedAt: null,
  guardrails: [],
  hookPolicies: [],
  callBudgets: [],
  toolServers: new Map(),
  settings: DEFAULT_SETTINGS,
};

/** From one snapshot of the database. */
export const readDirectory = (database: Database): Promise<DirectoryRows> =>
  withStoreErrors(() =>
    database.db.transaction(
      async (tx) => ({
        version: await versionIn(tx),
        keys: [...(await loadKeys(tx))],
        providers: await tx.select().from(providers).where(ours(providers)),
        routes: await loadRoutes(tx),
        prices: await loadPrices(tx),
        discounts: await loadDiscounts(tx),
        ...(await loadListed(tx)),
        guardrails: await selectGuardrails(tx),
        hookPolicies: await loadHookPolicies(tx),
        callBudgets: (await loadSharedBudgets(tx)).filter(isOfCalls),
        toolServers: await selectToolServers(tx),
        settings: await readSettings(tx),
      }),
      { isolationLevel: "repeatable read", accessMode: "read only" },
    ),
  );

/** The directory in memory: credentials opened, patterns compiled. */
export const openedDirectory = (
  rows: DirectoryRows,
  sources: CredentialSources & { log: Log },
): Directory => ({
  ...rows,
  keys: new Map(rows.keys),
  providers: providersOf(rows.providers, sources),
  routes: new Map(rows.routes.map((route) => [route.name, route])),
  guardrails: guardrailsOf(rows.guardrails, sources.log),
  toolServers: toolServersOf(rows.toolServers, sources),
});

const keyColumns = {
  ...picked(keys, ["id", "name", "owner", "service", "scopes", "limits", "own", "expiresAt", "program"]),
  ...picked(people, ["budgetUsd", "budgetPeriod", "unpriced"]),
  team: sql<string | null>`coalesce(${keys.team}, ${people.team})`,
  sha256: keySecrets.sha256,
  graceEndsAt: keySecrets.expiresAt,
};

/** Every secret of a key that is not revoked, with its key. Expired ones are among them: the clock decides later. */
const selectKeySecrets = (reader: Reader, condition?: SQL) =>
  reader
    .select(keyColumns)
    .from(keySecrets)
    .innerJoin(keys, joinedOn(keys.id, keySecrets.keyId))
    .leftJoin(people, and(eq(people.orgId, keys.orgId), eq(people.email, sql`lower(${keys.owner})`)))
    .where(ours(keySecrets, {}, isNull(keys.revokedAt), condition));

type KeySecretRow = Awaited<ReturnType<typeof selectKeySecrets>>[number];

/** The keys that are not revoked, or those of them that meet a condition, by lower-case hex SHA-256 of the secret. */
export async function loadKeys(reader: Reader, condition?: SQL): Promise<Map<string, ClientKey>> {
  const rows = await selectKeySecrets(reader, condition);
  const teamOf = teamLookup(rows.some(({ team }) => team !== null) ? await allTeams(reader) : []);
  const budgets = (await loadSharedBudgets(reader)).filter((budget) => !isOfCalls(budget));
  return new Map(
    rows.map((row) => {
      const key = { ...clientKeyOf(row), ...teamOf(row.team) };
      const its = budgets.filter((budget) => countsKey(budget, key));
      const sharedBudgets = its.length === 0 ? key.sharedBudgets : [...key.sharedBudgets, ...its];
      return [Buffer.from(row.sha256).toString("hex"), { ...key, sharedBudgets }];
    }),
  );
}

function clientKeyOf({ expiresAt, graceEndsAt, sha256: _, team: __, ...row }: KeySecretRow) {
  const { budgetUsd, budgetPeriod, unpriced, ...key } = row;
  const budget = budgetOf({ budgetUsd, budgetPeriod, unpriced });
  const ends = [expiresAt, graceEndsAt].filter((end) => end !== null).map((end) => Date.parse(end));
  const person = key.owner === null ? null : { ...personAccounts(key.owner), budget };
  return { ...key, person, expiresAtMs: ends.length > 0 ? Math.min(...ends) : null };
}

function providersOf(rows: readonly ProviderRow[], sources: CredentialSources & { log: Log }) {
  const found = new Map<string, Provider>();
  for (const row of rows) {
    const provider = providerOf(row, sources);
    if (provider) found.set(row.name, provider);
    else sources.log.warn({ provider: row.name }, "provider of an unknown kind");
    if (provider && row.enabled && !provider.enabled) {
      sources.log.error(
        { provider: row.name },
        "a stored credential or header cannot be decrypted with this master key",
      );
    }
  }
  return found;
}

async function loadRoutes(tx: Reader): Promise<Route[]> {
  const rows = await tx.select().from(routes).where(ours(routes)).orderBy(routes.name);
  return rows.map(({ orgId: _, createdAt, updatedAt: __, ...route }) => ({
    ...route,
    createdAtMs: Date.parse(createdAt),
  }));
}

async function loadPrices(tx: Reader): Promise<PriceOverride[]> {
  const rows = await tx
    .select()
    .from(prices)
    .where(ours(prices))
    .orderBy(desc(prices.effectiveFrom), desc(prices.id));
  return rows.map(({ orgId: _, createdAt: __, effectiveFrom, ...price }) => ({
    ...price,
    effectiveFromMs: Date.parse(effectiveFrom),
  }));
}
