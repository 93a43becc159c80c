import { eq } from "drizzle-orm";
import { guardrails } from "#drizzle/schema/guardrails.ts";
import { routes } from "#drizzle/schema/routes.ts";
import type { GuardrailPatch } from "#shared/admin/guardrails.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { GatewayError } from "../errors.ts";
import type { Reader, Transaction } from "./change.ts";
import { namedRows } from "./named-rows.ts";

export type GuardrailRow = typeof guardrails.$inferSelect;

export const guardrailRows = namedRows(guardrails);

/** @throws GatewayError conflict while a route lists it: its calls would no longer be guarded. */
export async function deleteGuardrail(tx: Transaction, name: string): Promise<boolean> {
  const rows = await tx
    .select({ route: routes.name, guardrails: routes.guardrails })
    .from(routes)
    .where(eq(routes.orgId, DEFAULT_ORG))
    .orderBy(routes.name);
  const users = rows.filter((row) => row.guardrails.includes(name)).map(({ route }) => `route ${route}`);
  if (users.length > 0) {
    throw new GatewayError("conflict", `The guardrail ${name} is used by: ${users.join(", ")}.`);
  }
  return (await guardrailRows.remove(tx, name)) !== null;
}

/** @throws GatewayError conflict when there is no guardrail of one of these names. */
export async function requireGuardrails(reader: Reader, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const found = await reader
    .select({ name: guardrails.name })
    .from(guardrails)
    .where(eq(guardrails.orgId, DEFAULT_ORG));
  const missing = names.find((name) => found.every((row) => row.name !== name));
  if (missing) throw new GatewayError("conflict", `/guardrails: there is no guardrail named ${missing}.`);
}

/** The guardrail that a body without a predecessor makes. */
export function newGuardrail(name: string, body: GuardrailPatch, now: Date): GuardrailRow {
  const defaults: GuardrailRow = {
    orgId: DEFAULT_ORG,
    name,
    position: 100,
    enabled: true,
    mode: "enforce",
    match: {},
    action: "block",
    message: null,
    callout: null,
    createdAt: now.toISOString(),
    updatedAt: now.toISOString(),
  };
  return patchedGuardrail(defaults, body, now);
}

/** The guardrail with the members that the body gives. */
export const patchedGuardrail = (current: GuardrailRow, body: GuardrailPatch, now: Date): GuardrailRow => ({
  ...current,
  position: body.position ?? current.position,
  enabled: body.enabled ?? current.enabled,
  mode: body.mode ?? current.mode,
  match: body.match ?? current.match,
  action: body.action ?? current.action,
  message: body.message === undefined ? current.message : body.message,
  callout: body.callout === undefined ? current.callout : body.callout,
  updatedAt: now.toISOString(),
});
