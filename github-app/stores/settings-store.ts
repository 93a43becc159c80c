import type { Database } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { type Settings, settingsOf } from "#shared/settings.ts";

/** The organisation's settings as they are now. */
export async function readAppSettings({ sql }: Database): Promise<Settings> {
  const [row] = await sql<{ value: Record<string, unknown> }[]>`
    select value from settings where org_id = ${DEFAULT_ORG}`;
  return settingsOf(row?.value ?? {});
}
