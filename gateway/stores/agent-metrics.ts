import { desc, eq, lt } from "drizzle-orm";
import type postgres from "postgres";
import { deadlinePool } from "#drizzle/deadline-pool.ts";
import { jsonRows } from "#drizzle/json-rows.ts";
import { given, joinedOn, ours } from "#drizzle/ours.ts";
import { type AgentPointRow, agentPoints, droppedNames } from "#drizzle/schema/agent.ts";
import { keys } from "#drizzle/schema/keys.ts";
import { newId } from "#shared/ids.ts";
import { GatewayError } from "../errors.ts";
import type { Reader } from "./change.ts";
import type { Slice } from "./slice.ts";

/** The data stored for one export: points, and names of metrics and attributes that are not stored. */
type Export = {
  keyId: string;
  at: Date;
  rows: readonly AgentPointRow[];
  dropped: readonly { kind: "attribute" | "metric"; name: string }[];
};

export type AgentMetrics = {
  /**
   * Stores an export in one transaction; a point that is stored already is kept, so a retry counts once.
   * @throws GatewayError store_unavailable; then either nothing or everything is stored.
   */
  store(received: Export): Promise<void>;
  close(): Promise<void>;
};

/** Exports have connections of their own: neither records nor administrators wait for them. */
const POOL = {
  name: "agent-metrics",
  max: 2,
  statementTimeoutMs: 4500,
  lockTimeoutMs: 4000,
  idleTransactionTimeoutMs: 10_000,
  /** Exporters give an export ten seconds with all retries: the answer and the wait after it must leave time for another. */
  deadlineMs: 5000,
};

/** Names kept for a key and day. */
const NAMES_MAX = 1000;
/** Cache of names known to be stored or not: an export that drops the same names as the last one writes none again. */
const REMEMBERED_MAX = 20_000;

/** Rows of one statement: serialising more at once would delay other calls. */
const STATEMENT_ROWS = 1000;

const ROWS = jsonRows(agentPoints, { without: ["orgId", "hash"] });
/** Its only parameter is a JSON array of rows, whose members are named as the table's are. Members absent are null. */
const INSERT = `insert into agent_points (hash, ${ROWS.columns}) select decode(r.hash, 'hex'), ${ROWS.values}
  from json_to_recordset($1::text::json) as r(hash text, ${ROWS.types}) on conflict do nothing`;

/** Taken only if a name is new: one export of a key and day at a time, so that the limit on names applies. */
const LOCK = "select pg_advisory_xact_lock(hashtextextended('dropped_names ' || $1 || ' ' || $2, 0))";

const KEEP_NAMES = `insert into dropped_names (key_id, day, kind, name, id, first_at)
select $1::text::uuid, $2::text::date, n.kind, n.name, n.id, $3::text::timestamptz
from json_to_recordset($4::text::json) as n(kind text, name text, id uuid)
where not exists (select from dropped_names d where d.org_id = 'default' and d.key_id = $1::text::uuid
  and d.day = $2::text::date and d.kind = n.kind and d.name = n.name)
limit greatest(0, ${NAMES_MAX} - (select count(*) from dropped_names d
  where d.org_id = 'default' and d.key_id = $1::text::uuid and d.day = $2::text::date))`;

export function openAgentMetrics(url: string): AgentMetrics {
  const { query, close } = deadlinePool(url, POOL);
  const remembered = new Set<string>();

  async function transaction(work: (sql: postgres.TransactionSql) => Promise<void>): Promise<void> {
    try {
      await query((sql) => sql.begin(work));
    } catch (cause) {
      // After a missed deadline, the retry finds out whether the transaction was committed.
      throw new GatewayError("store_unavailable", "The export could not be stored. Send it again.", cause);
    }
  }

  return {
    async store({ keyId, at, rows, dropped }) {
      const day = at.toISOString().slice(0, 10);
      const memory = ({ kind, name }: Export["dropped"][number]) => `${keyId} ${day} ${kind} ${name}`;
      const names = dropped.filter((one) => !remembered.has(memory(one)));
      if (rows.length === 0 && names.length === 0) return;
      // In a fixed order, so that two exports with the same points cannot deadlock.
      const sorted = rows.toSorted((a, b) => (a.hash < b.hash ? -1 : 1));
      await transaction(async (sql) => {
        for (let from = 0; from < sorted.length; from += STATEMENT_ROWS) {
          const part = JSON.stringify(sorted.slice(from, from + STATEMENT_ROWS));
          await sql.unsafe(INSERT, [part], { prepare: true });
        }
        if (names.length === 0) return;
        await sql.unsafe(LOCK, [keyId, day]);
        const listed = JSON.stringify(names.map((one) => ({ ...one, id: newId() })));
        await sql.unsafe(KEEP_NAMES, [keyId, day, at.toISOString(), listed]);
      });
      if (remembered.size + names.length > REMEMBERED_MAX) remembered.clear();
      for (const one of names.slice(0, REMEMBERED_MAX)) remembered.add(memory(one));
    },
    close: () => close(5),
  };
}

/** Names that the metrics receiver did not store, newest first. `key` is a key's name, or its id. */
export const listDroppedNames = (
  reader: Reader,
  { after, limit, key, kind }: Slice & { key: { name: string } | { id: string } | null; kind: string | null },
) =>
  reader
    .select({
      id: droppedNames.id,
      key_id: droppedNames.keyId,
      key_name: keys.name,
      day: droppedNames.day,
      kind: droppedNames.kind,
      name: droppedNames.name,
      first_at: droppedNames.firstAt,
    })
    .from(droppedNames)
    .leftJoin(keys, joinedOn(keys.id, droppedNames.keyId))
    .where(
      ours(
        droppedNames,
        given({ kind: kind as "attribute" | "metric" | null }),
        key === null ? undefined : "id" in key ? eq(droppedNames.keyId, key.id) : eq(keys.name, key.name),
        after === null ? undefined : lt(droppedNames.id, after),
      ),
    )
    .orderBy(desc(droppedNames.id))
    .limit(limit);
