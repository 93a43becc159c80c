import { and, eq, inArray, ne, sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { files } from "#drizzle/schema/batches.ts";
import { requests } from "#drizzle/schema/records.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { keptIdHash } from "#shared/kept-ids.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { References } from "../http/references.ts";
import { withStoreErrors } from "./store-errors.ts";

/**
 * Whether another key than `keyId` made one of the things referred to. What no key of this gateway made is nobody's.
 * @throws GatewayError store_unavailable
 */
const refersToForeign = (
  { db }: Pick<Database, "db">,
  keyId: string,
  { kept, items, files: fileIds }: References,
): Promise<boolean> =>
  withStoreErrors(async () => {
    const hashes = [...new Set([...kept, ...items])].map(keptIdHash);
    const foreign = await Promise.all([
      kept.length === 0
        ? []
        : db
            .select({ id: requests.id })
            .from(requests)
            .where(
              and(
                eq(requests.orgId, DEFAULT_ORG),
                inArray(requests.keptId, [...kept]),
                ne(requests.keyId, keyId),
              ),
            )
            .limit(1),
      hashes.length === 0 ? [] : foreignAmong(db, keyId, hashes),
      fileIds.length === 0
        ? []
        : db
            .select({ id: files.id })
            .from(files)
            .where(and(eq(files.orgId, DEFAULT_ORG), inArray(files.id, [...fileIds]), ne(files.keyId, keyId)))
            .limit(1),
    ]);
    return foreign.some((rows) => rows.length > 0);
  });

/**
 * A row if another key's record has one of the hashes. Postgres expects far too many records for a hash, and with any
 * other condition, a limit or another order of the join would read all records. `offset 0` leaves it the index alone.
 */
const foreignAmong = (db: Database["db"], keyId: string, hashes: readonly string[]) =>
  db.execute(sql`
    select 1 from json_array_elements_text(${JSON.stringify(hashes)}::text::json) as one(hash)
    cross join lateral (
      select org_id, key_id from ${requests} where kept_ids @> array[one.hash] offset 0
    ) as made
    where made.org_id = ${DEFAULT_ORG} and made.key_id <> ${keyId} having count(*) > 0`);

/** Who made a response, and where it is kept. */
export type KeptResponse = { keyId: string; provider: string | null };

/** Null: no key of this gateway made it. @throws GatewayError store_unavailable */
const findKeptResponse = ({ db }: Pick<Database, "db">, id: string): Promise<KeptResponse | null> =>
  withStoreErrors(async () => {
    const [row] = await db
      .select({ keyId: requests.keyId, provider: requests.provider })
      .from(requests)
      .where(and(eq(requests.orgId, DEFAULT_ORG), eq(requests.keptId, id)))
      .limit(1);
    return row ?? null;
  });

/** Which key made what providers keep. */
export const openOwnership = (database: Pick<Database, "db">, log: Log) => ({
  findKeptResponse: (id: string) => findKeptResponse(database, id),
  /** As with keys in memory, calls go on while the database is away: their references are not checked then. */
  refersToForeign: (keyId: string, references: References): Promise<boolean> =>
    refersToForeign(database, keyId, references).catch((error) => {
      log.warn(errorFields(error), "references of a call were not checked");
      return false;
    }),
});
