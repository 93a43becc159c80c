import { sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { usedSetupLinks } from "#drizzle/schema/github-app.ts";
import { directoryVersions, settings } from "#drizzle/schema/routes.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { settingsOf } from "#shared/settings.ts";
import { noteOnPage, type SetupOrigin } from "./audit-store.ts";

/** Remembers that a one-time link was used, with an entry in the audit log; false: it was used before. */
export const useSetupLink = (
  { db }: Database,
  link: { tokenSha256: string; expiresAt: string },
  by: SetupOrigin,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const isOver = sql`${usedSetupLinks.expiresAt} < ${by.now.toISOString()}::timestamptz`;
    await tx.delete(usedSetupLinks).where(isOver);
    const written = await tx.insert(usedSetupLinks).values(link).onConflictDoNothing().returning();
    if (written.length === 0) return false;
    await noteOnPage(tx, by, { action: "setup_link.used", subject: "set-up page" });
    return true;
  });

/** Switches `pull_request_stamping` on, in every process, with an entry in the audit log. */
export async function startMeasuring({ db }: Database, by: SetupOrigin): Promise<void> {
  const at = by.now.toISOString();
  await db.transaction(async (tx) => {
    // First, as every change: its row lock lets one in at a time.
    await tx
      .insert(directoryVersions)
      .values({ version: 1 })
      .onConflictDoUpdate({
        target: directoryVersions.orgId,
        set: { version: sql`${directoryVersions.version} + 1` },
      });
    const [row] = await tx.select().from(settings).where(sql`${settings.orgId} = ${DEFAULT_ORG}`);
    const before = settingsOf(row?.value ?? {});
    if (before.pull_request_stamping) return;
    const after = { ...before, pull_request_stamping: true };
    const set = { value: after, updatedAt: at };
    await tx.insert(settings).values(set).onConflictDoUpdate({ target: settings.orgId, set });
    await noteOnPage(tx, by, { action: "settings.changed", subject: "pull_request_stamping", before, after });
  });
}
