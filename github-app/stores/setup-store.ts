import { sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { auditEntries } from "#drizzle/schema/audit.ts";
import { usedSetupLinks } from "#drizzle/schema/github-app.ts";
import { directoryVersions, settings } from "#drizzle/schema/routes.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import { settingsOf } from "#shared/settings.ts";

/** Remembers that a one-time link was used; false: it was used before. */
export async function useSetupLink(
  { db }: Database,
  link: { tokenSha256: string; expiresAt: string },
  now: Date,
): Promise<boolean> {
  await db.delete(usedSetupLinks).where(sql`${usedSetupLinks.expiresAt} < ${now.toISOString()}::timestamptz`);
  const written = await db.insert(usedSetupLinks).values(link).onConflictDoNothing().returning();
  return written.length === 1;
}

/** Switches `pull_request_stamping` on, in every process, with an entry in the audit log. */
export async function startMeasuring(
  { db }: Database,
  by: { address: string | null; now: Date },
): Promise<void> {
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
    await tx.insert(auditEntries).values({
      ...{ id: newId(), at, actor: "set-up page", address: by.address, requestId: null },
      ...{ action: "settings.changed", subject: "pull_request_stamping", before, after },
    });
  });
}
