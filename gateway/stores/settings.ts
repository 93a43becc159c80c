import type { Transaction } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { routes, settings } from "#drizzle/schema/routes.ts";
import { type Settings, settingsOf } from "#shared/settings.ts";
import { isTimeZone, TIME_ZONE_FAULT } from "#shared/time-zone.ts";
import { GatewayError, refuse } from "../errors.ts";
import type { Reader } from "./change.ts";

/** The organisation's settings; the default for each member that is absent or that an older version stored otherwise. */
export async function readSettings(reader: Reader): Promise<Settings> {
  const [row] = await reader.select({ value: settings.value }).from(settings).where(ours(settings));
  return settingsOf(row?.value ?? {});
}

/**
 * Sets the members given and keeps the others.
 * @throws GatewayError invalid_request for an unknown time zone; conflict when `default_route` names no route of the chat surface.
 */
export async function patchSettings(tx: Transaction, patch: Partial<Settings>, now: Date): Promise<Settings> {
  const value = { ...(await readSettings(tx)), ...patch };
  if (patch.report_time_zone !== undefined && !isTimeZone(patch.report_time_zone))
    refuse(`/report_time_zone: ${TIME_ZONE_FAULT}.`);
  if (patch.default_route !== undefined) await requireChatRoute(tx, patch.default_route);
  const row = { value, updatedAt: now.toISOString() };
  await tx.insert(settings).values(row).onConflictDoUpdate({ target: settings.orgId, set: row });
  return value;
}

async function requireChatRoute(tx: Reader, name: string): Promise<void> {
  const [route] = await tx.select().from(routes).where(ours(routes, { name }));
  if (!route) throw new GatewayError("conflict", `/default_route: No route is named ${name}.`);
  if (route.surface !== "chat") {
    throw new GatewayError(
      "conflict",
      `/default_route: The route ${name} serves ${route.surface}; the default route must serve chat.`,
    );
  }
}
