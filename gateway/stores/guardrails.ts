import type { Transaction } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { guardrails } from "#drizzle/schema/guardrails.ts";
import { routes } from "#drizzle/schema/routes.ts";
import type { GuardrailPatch } from "#shared/admin/guardrails.ts";
import { camelCased } from "#shared/case.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { GatewayError } from "../errors.ts";
import type { Reader } from "./change.ts";
import { namedRows } from "./rows.ts";

export type GuardrailRow = typeof guardrails.$inferSelect;

export const guardrailRows = namedRows(guardrails);

/** @throws GatewayError conflict while a route lists it: the route's calls would no longer be guarded. */
export async function deleteGuardrail(tx: Transaction, name: string): Promise<GuardrailRow | null> {
  const rows = await tx
    .select({ route: routes.name, guardrails: routes.guardrails })
    .from(routes)
    .where(ours(routes))
    .orderBy(routes.name);
  const users = rows.filter((row) => row.guardrails.includes(name)).map(({ route }) => `route ${route}`);
  if (users.length > 0) {
    throw new GatewayError("conflict", `The guardrail ${name} is used by: ${users.join(", ")}.`);
  }
  return guardrailRows.remove(tx, name);
}

/** @throws GatewayError conflict if there is no guardrail with one of these names. */
export async function requireGuardrails(reader: Reader, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const found = await reader.select({ name: guardrails.name }).from(guardrails).where(ours(guardrails));
  const missing = names.find((name) => found.every((row) => row.name !== name));
  if (missing) throw new GatewayError("conflict", `/guardrails: No guardrail is named ${missing}.`);
}

/** A new guardrail: absent members of the body get their defaults. */
export const newGuardrail = (name: string, body: GuardrailPatch, now: Date): GuardrailRow => ({
  orgId: DEFAULT_ORG,
  position: 100,
  enabled: true,
  mode: "enforce",
  match: {},
  action: "block",
  message: null,
  callout: null,
  ...camelCased(body),
  name,
  createdAt: now.toISOString(),
  updatedAt: now.toISOString(),
});
