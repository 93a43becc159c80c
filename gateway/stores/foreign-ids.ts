import { ne, type SQL, sql } from "drizzle-orm";
import type { Database, Db } from "#drizzle/database.ts";
import { first, ours } from "#drizzle/ours.ts";
import { files } from "#drizzle/schema/batches.ts";
import { requests } from "#drizzle/schema/records.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { keptIdHash } from "#shared/kept-ids.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { GatewayError } from "../errors.ts";
import type { References } from "../http/references.ts";
import { PENDING_COLUMNS, type PendingResponse } from "./pending-responses.ts";
import { withStoreErrors } from "./store-errors.ts";

/** Ids that one statement looks up: one of Postgres has at most 65,535 parameters, and its time is limited. */
const SLICE = 1000;

/** What `ask` finds for the ids, slice by slice. @throws GatewayError store_unavailable */
function ofSlices(ids: readonly string[], ask: (slice: string[]) => PromiseLike<readonly unknown[]>) {
  const distinct = [...new Set(ids)];
  const slices = Array.from({ length: Math.ceil(distinct.length / SLICE) }, (_, n) =>
    distinct.slice(n * SLICE, (n + 1) * SLICE),
  );
  return slices.map((slice) => withStoreErrors(() => ask(slice)));
}

/**
 * Whether a key other than `keyId` made one of the referenced objects. Objects that no key of this gateway made have no
 * owner.
 * @throws GatewayError store_unavailable; invalid_request for an id that cannot be stored.
 */
async function refersToForeign(
  { db }: Db,
  keyId: string,
  { kept, items, files: fileIds }: References,
): Promise<boolean> {
  const foreign = await Promise.all([
    // What was uploaded at a vendor's own address is known by its record alone.
    ...ofSlices([...kept, ...fileIds], (ids) => namedToOthers(db, keyId, { names: ids, is: keptId })),
    ...ofSlices([...kept, ...items], (ids) =>
      namedToOthers(db, keyId, { names: ids.map(keptIdHash), is: keptHash }),
    ),
    ...ofSlices(fileIds, (ids) =>
      db
        .select({ id: files.id })
        .from(files)
        .where(ours(files, { id: ids }, ne(files.keyId, keyId)))
        .limit(1),
    ),
  ]);
  return foreign.some((rows) => rows.length > 0);
}

const keptId = (id: SQL) => sql`${requests.orgId} = ${DEFAULT_ORG} and ${requests.keptId} = ${id}`;
const keptHash = (hash: SQL) => sql`${requests.keptIds} @> array[${hash}]`;

/**
 * A row for each of the names that answers named to another key, and never to this one. Postgres expects far too many
 * records for a hash, and with any other condition, a limit or another order of the join would read all records:
 * `offset 0` leaves it the index alone.
 */
const namedToOthers = (
  db: Database["db"],
  keyId: string,
  { names, is }: { names: readonly string[]; is(name: SQL): SQL },
) =>
  db.execute(sql`
    select 1 from json_array_elements_text(${JSON.stringify(names)}::text::json) as named(name)
    cross join lateral (
      select org_id, key_id from ${requests} where ${is(sql`named.name`)} offset 0
    ) as made
    where made.org_id = ${DEFAULT_ORG} group by named.name having not bool_or(made.key_id = ${keyId})`);

/** Who made a response, and where it is kept. */
export type KeptResponse = PendingResponse & { keyId: string; pending: boolean | null };

/** Null: no key of this gateway made it. @throws GatewayError store_unavailable */
const findKeptResponse = ({ db }: Db, id: string): Promise<KeptResponse | null> =>
  withStoreErrors(() => {
    const columns = { keyId: requests.keyId, pending: requests.pending, ...PENDING_COLUMNS };
    const isIt = ours(requests, { keptId: id });
    return first(db.select(columns).from(requests).where(isIt).limit(1));
  });

/** The keys that made the objects that providers keep. `written` resolves when earlier answers of this gateway are stored. */
export const openOwnership = (database: Db, log: Log, written: () => Promise<void>) => ({
  findKeptResponse: (id: string) => written().then(() => findKeptResponse(database, id)),
  /** As with cached keys, calls continue while the database is away, with unchecked references. Rejects otherwise. */
  async refersToForeign(keyId: string, references: References): Promise<boolean> {
    await written();
    return refersToForeign(database, keyId, references).catch((error) => {
      if (!(error instanceof GatewayError) || error.type !== "store_unavailable") throw error;
      log.warn(errorFields(error), "references of a call were not checked");
      return false;
    });
  },
});
