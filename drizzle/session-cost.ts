import { and, eq, sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { requests } from "./schema/records.ts";

/** `costUsd`: exact USD, null when none of it is known. `isLowerBound`: a call without a known cost is among them. */
export type SessionCost = { requests: number; costUsd: string | null; isLowerBound: boolean };

/** What a session cost so far, as reports on merged pull requests count it: all of it but the subscription lane. */
export async function sessionCost(
  reader: Pick<PostgresJsDatabase, "select">,
  session: string,
): Promise<SessionCost> {
  const billed = sql`${requests.channel} <> 'subscription'`;
  const uncertain = sql`(${requests.unpriced} or ${requests.partial} or ${requests.costUsd} is null)`;
  const [row] = await reader
    .select({
      requests: sql<number>`count(*)::integer`,
      costUsd: sql<
        string | null
      >`case when count(*) = 0 then '0' else sum(${requests.costUsd}) filter (where ${billed})::text end`,
      isLowerBound: sql<boolean>`coalesce(bool_or(${billed} and ${uncertain}), false)`,
    })
    .from(requests)
    .where(and(eq(requests.orgId, DEFAULT_ORG), eq(requests.session, session)));
  return row ?? { requests: 0, costUsd: "0", isLowerBound: false };
}
