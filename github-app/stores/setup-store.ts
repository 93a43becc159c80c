import { sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { usedSetupLinks } from "#drizzle/schema/github-app.ts";
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
