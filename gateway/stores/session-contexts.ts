import { desc, sql } from "drizzle-orm";
import type { Db } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { sessionContexts } from "#drizzle/schema/sessions.ts";
import type { SessionContextBody } from "#shared/session-links.ts";
import { type Declarer, declarerOf } from "./session-links.ts";
import { withStoreErrors } from "./store-errors.ts";

/** Records are not written while a declaration waits for those that are being written. */
const WAIT = sql`set local lock_timeout = '2s'`;

/**
 * Keeps which branch an agent's session works on from now on; the same one again changes nothing, unless a pull request of
 * that branch was merged in the meantime. @returns since when it does.
 * @throws GatewayError store_unavailable
 */
export const declareContext = (
  { db }: Db,
  { session, branch, ...body }: SessionContextBody,
  { key, client, at }: Declarer,
): Promise<string> =>
  withStoreErrors(() =>
    db.transaction(async (tx) => {
      const pair = { session, declarer: declarerOf(key) };
      const place = { repository: body.repository.toLowerCase(), branch };
      const { orgId, declaredAt } = sessionContexts;
      const [last] = await tx
        .select({
          since: declaredAt,
          isSame: sql<boolean>`${sessionContexts.repository} = ${place.repository}
            and ${sessionContexts.branch} = ${branch} and not exists (
              select from pull_requests p where p.org_id = ${orgId} and p.head_branch = ${branch}
                and p.merged_at > ${declaredAt})`,
        })
        .from(sessionContexts)
        .where(ours(sessionContexts, pair))
        .orderBy(desc(declaredAt))
        .limit(1);
      if (last?.isSame) return last.since;
      await tx.execute(WAIT);
      const made = { keyId: key.id, client, declaredAt: at.toISOString() };
      await tx
        .insert(sessionContexts)
        .values({ ...pair, ...place, ...made })
        .onConflictDoUpdate({
          target: [orgId, sessionContexts.session, sessionContexts.declarer, declaredAt],
          set: place,
        });
      return made.declaredAt;
    }),
  );
