import type { Transaction } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { providers, routes } from "#drizzle/schema/routes.ts";
import type { RoutePut } from "#shared/admin/routes.ts";
import { camelCased } from "#shared/case.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { GatewayError } from "../errors.ts";
import type { Reader } from "./change.ts";
import { requireGuardrails } from "./guardrails.ts";
import { namedRows } from "./rows.ts";
import { readSettings } from "./settings.ts";

export type RouteRow = typeof routes.$inferSelect;

export const routeRows = namedRows(routes);

/** @throws GatewayError conflict when a provider or a guardrail that it names does not exist. */
export async function writeRoute(tx: Transaction, row: RouteRow): Promise<void> {
  await requireProviders(tx, row);
  await requireGuardrails(tx, row.guardrails);
  if (row.surface !== "chat") await refuseForDefault(tx, row.name, "must serve chat");
  await routeRows.write(tx, row);
}

/** @throws GatewayError conflict while it is the default route. */
export async function deleteRoute(tx: Transaction, name: string): Promise<RouteRow | null> {
  await refuseForDefault(tx, name, "cannot be deleted");
  return routeRows.remove(tx, name);
}

async function refuseForDefault(tx: Reader, name: string, what: string): Promise<void> {
  if ((await readSettings(tx)).default_route === name && (await routeRows.find(tx, name))) {
    throw new GatewayError("conflict", `The route ${name} is the default route and ${what}.`);
  }
}

async function requireProviders(tx: Reader, row: RouteRow): Promise<void> {
  const found = await tx.select({ name: providers.name }).from(providers).where(ours(providers));
  const known = new Set(found.map(({ name }) => name));
  const places = [
    { path: "/provider", provider: row.provider },
    ...row.fallbacks.map(({ provider }, index) => ({ path: `/fallbacks/${index}/provider`, provider })),
  ];
  const missing = places.find(({ provider }) => !known.has(provider));
  if (missing) {
    throw new GatewayError("conflict", `${missing.path}: No provider is named ${missing.provider}.`);
  }
}

/** A new route: absent members of the body get their defaults. */
export const newRoute = (name: string, body: RoutePut, now: Date): RouteRow => ({
  orgId: DEFAULT_ORG,
  fallbacks: [],
  weight: null,
  firstByteSeconds: null,
  idleSeconds: null,
  description: "",
  examples: [],
  keywords: [],
  guardrails: [],
  bodyCapture: false,
  subscriptionPassthrough: false,
  usageChunk: "withhold",
  onClientGone: "drain",
  refuseWith: "block",
  inexpressible: "refuse",
  enabled: true,
  ...camelCased(body),
  name,
  createdAt: now.toISOString(),
  updatedAt: now.toISOString(),
});
