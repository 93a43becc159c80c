import { and, desc, eq, getTableName, inArray, isNull, type SQL, sql } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { joinedOn, type OrgTable, ours } from "#drizzle/ours.ts";
import { budgets } from "#drizzle/schema/budgets.ts";
import { guardrails } from "#drizzle/schema/guardrails.ts";
import { people } from "#drizzle/schema/identity.ts";
import { keySecrets, keys } from "#drizzle/schema/keys.ts";
import { priceListChanges, priceListFetches } from "#drizzle/schema/price-list.ts";
import { discounts, prices } from "#drizzle/schema/prices.ts";
import { directoryVersions, providers, routes, settings } from "#drizzle/schema/routes.ts";
import { teams } from "#drizzle/schema/teams.ts";
import { hookPolicies, mcpServers } from "#drizzle/schema/tools.ts";
import { keysOf, picked } from "#shared/keys-of.ts";
import type { Log } from "#shared/log.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import type { ClientKey, Directory, PriceOverride, Provider, Route } from "../../directory.ts";
import { personAccounts } from "../../limits/account-ids.ts";
import type { Reader } from "../change.ts";
import { loadDiscounts } from "../discounts.ts";
import { countsKey, isOfCalls, loadSharedBudgets } from "../named-budgets.ts";
import { lastFetchedAt, loadListed } from "../price-list.ts";
import { readSettings } from "../settings.ts";
import { withStoreErrors } from "../store-errors.ts";
import { allTeams } from "../teams.ts";
import { loadHookPolicies } from "../tools/hook-policies.ts";
import { selectToolServers, toolServersOf } from "../tools/mcp-servers.ts";
import { type Marks, readMarks } from "./changed-rows.ts";
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

/** The parts beside keys: the table that each comes from, and how it is read. */
const PARTS = {
  providers: { of: providers, load: (tx: Reader) => tx.select().from(providers).where(ours(providers)) },
  routes: { of: routes, load: loadRoutes },
  prices: { of: prices, load: loadPrices },
  discounts: { of: discounts, load: loadDiscounts },
  listed: { of: priceListChanges, load: loadListed },
  listFetchedAt: { of: priceListFetches, load: lastFetchedAt },
  guardrails: { of: guardrails, load: selectGuardrails },
  hookPolicies: { of: hookPolicies, load: loadHookPolicies },
  callBudgets: { of: budgets, load: async (tx: Reader) => (await loadSharedBudgets(tx)).filter(isOfCalls) },
  toolServers: { of: mcpServers, load: selectToolServers },
  settings: { of: settings, load: readSettings },
};
type Parts = { [Part in keyof typeof PARTS]: Awaited<ReturnType<(typeof PARTS)[Part]["load"]>> };
const TABLES = [...new Set([keySecrets, people, teams, ...Object.values(PARTS).map(({ of }) => of)])];

/** All that administrators set, keys by lower-case hex SHA-256; as JSON keeps it whole. Credentials stay sealed. */
export type DirectoryRows = Parts & { version: number; keys: [sha256Hex: string, key: ClientKey][] };

/** Reads the directory from one snapshot. A part without a changed row stays the same object and is not read again. */
export function directoryReader({ db }: Database): () => Promise<DirectoryRows> {
  let last: { rows: DirectoryRows; marks: Marks } | null = null;
  const read = async (tx: Transaction): Promise<DirectoryRows> => {
    const found = last;
    const marks = await readMarks(tx, TABLES, found?.marks ?? null);
    const before = found?.marks.server === marks.server ? found : null;
    const isSame = (table: OrgTable) => {
      const [counts, known] = [marks, before?.marks].map((it) => it?.tables[getTableName(table)]);
      return counts?.[1] === 0 && counts[0] === known?.[0];
    };
    const parts = keysOf(PARTS).map(async (part) => {
      const { of, load } = PARTS[part];
      return [part, before && isSame(of) ? before.rows[part] : await load(tx)];
    });
    const known = before && [people, teams, budgets].every(isSame) ? before.rows.keys : null;
    // Each part is what its loader gives.
    const rest = Object.fromEntries(await Promise.all(parts)) as Parts;
    const keys = (known && (await withChanged(tx, known, marks))) ?? [...(await loadKeys(tx))];
    last = { rows: { ...rest, keys, version: marks.version }, marks };
    return last.rows;
  };
  const how = { isolationLevel: "repeatable read", accessMode: "read only" } as const;
  return () => withStoreErrors(() => db.transaction(read, how));
}

/** The known keys with those that have changed; null if others are gone, or if it is quicker to read all. */
async function withChanged(tx: Reader, known: DirectoryRows["keys"], { keyIds, tables }: Marks) {
  if (keyIds.length > 1000) return null;
  const changed = new Set(keyIds);
  const kept = known.filter(([, { id }]) => !changed.has(id));
  const all = changed.size === 0 ? known : [...kept, ...(await loadKeys(tx, inArray(keys.id, keyIds)))];
  // A revoked key has no secret.
  return all.length === tables[getTableName(keySecrets)]?.[0] ? all : null;
}

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
