import type { Database, Transaction } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { guardrails } from "#drizzle/schema/guardrails.ts";
import { providers, routes, settings } from "#drizzle/schema/routes.ts";
import { DETECTORS } from "#shared/admin/guardrails.ts";
import type { Ambient } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { keysOf } from "#shared/keys-of.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import type { Secret } from "../directory.ts";
import { PROVIDERS, type ProviderKind } from "../providers/catalog.ts";
import { auditIn, ownOrigin } from "./audit.ts";
import { ownChange, type Reader } from "./change.ts";
import { readVersion, versionIn } from "./directory/load-directory.ts";
import { newGuardrail } from "./guardrails.ts";
import { insertKey } from "./keys.ts";
import { newRoute } from "./routes.ts";
import { withStoreErrors } from "./store-errors.ts";

export type BootstrapOptions = Ambient & {
  database: Database;
  /** Providers' credentials of the environment, by the variable that the catalogue names. */
  providerKeys: ReadonlyMap<string, Secret>;
  /**
   * Keeps the secret of the first client key where a person finds it. It runs before the key becomes valid, so that a
   * crash between the two never leaves a valid key whose secret is lost; it may run again on the next start.
   */
  keepFirstKey: (secret: string) => Promise<void>;
};

/**
 * Prepares an empty installation for a first call: the built-in provider `echo`, a route to it on every surface, a
 * guardrail for each built-in pattern (switched off), the settings, and one client key, `first`. On every start, it also
 * creates a provider for each credential in the environment; what administrators have changed or deleted is kept. Safe to
 * repeat, and to run on several replicas at once.
 */
export async function bootstrap(options: BootstrapOptions): Promise<void> {
  const { database } = options;
  const kinds = kindsWithKey(options.providerKeys);
  const isBegun = (await readVersion(database)) > 0;
  if (isBegun && (await withStoreErrors(() => missing(database.db, kinds))).length === 0) return;
  const now = options.clock.now();
  await ownChange(database, async (tx) => {
    if ((await versionIn(tx)) === 1) {
      await furnish(tx, options);
      const audit = auditIn(tx, ownOrigin("first start", now));
      await audit({ action: "installation.created", subject: DEFAULT_ORG });
    }
    const auditEnvironment = auditIn(tx, ownOrigin("environment", now));
    for (const kind of await missing(tx, kinds)) {
      await tx.insert(providers).values(plainProvider(kind, now));
      await auditEnvironment({ action: "provider.set", subject: kind, after: { name: kind, kind } });
      options.log.info({ provider: kind }, "created a provider for a credential in the environment");
    }
  });
}

const kindsWithKey = (providerKeys: ReadonlyMap<string, Secret>): ProviderKind[] =>
  keysOf(PROVIDERS).filter((kind) => {
    const { envKey } = PROVIDERS[kind];
    return envKey !== null && providerKeys.has(envKey);
  });

async function missing(reader: Reader, kinds: ProviderKind[]): Promise<ProviderKind[]> {
  const rows = await reader.select({ name: providers.name }).from(providers).where(ours(providers));
  return kinds.filter((kind) => rows.every(({ name }) => name !== kind));
}

const plainProvider = (kind: ProviderKind, now: Date) => ({
  name: kind,
  kind,
  headers: {},
  createdAt: now.toISOString(),
  updatedAt: now.toISOString(),
});

/** Routes of the first start: one to talk to, and the fixed ones of the surfaces that have no text to classify. */
const FIRST_ROUTES = [
  { name: "echo", surface: "chat", description: "Repeats what it was sent, from the gateway itself." },
  { name: "image_generation", surface: "image_generation", description: "Makes images." },
  { name: "tts", surface: "tts", description: "Speaks a text." },
  { name: "rerank", surface: "rerank", description: "Ranks documents by how well they answer a question." },
] as const;

async function furnish(tx: Transaction, { clock, keepFirstKey, log }: BootstrapOptions): Promise<void> {
  const now = clock.now();
  await tx.insert(providers).values(plainProvider("echo", now));
  for (const { name, ...route } of FIRST_ROUTES) {
    await tx.insert(routes).values(newRoute(name, { ...route, provider: "echo", model: "echo" }, now));
  }
  for (const [index, detector] of DETECTORS.entries()) {
    // Switched off: administrators decide which calls an installation refuses.
    const rule = { enabled: false, position: 1000 + index, match: { detect: [detector] } };
    await tx.insert(guardrails).values(newGuardrail(detector.replaceAll("_", "-"), rule, now));
  }
  await tx.insert(settings).values({ value: DEFAULT_SETTINGS, updatedAt: now.toISOString() });
  const facts = { name: "first", owner: null, team: null, scopes: {}, limits: null, expiresAt: null };
  const { id, secret } = await insertKey(tx, facts, now);
  await keepFirstKey(secret);
  log.info({ keyId: id }, "first start: created a provider, routes and a client key");
}
