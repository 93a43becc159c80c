import postgres from "postgres";
import { deadlinePool } from "#drizzle/deadline-pool.ts";
import { jsonRows } from "#drizzle/json-rows.ts";
import { requests } from "#drizzle/schema/records.ts";
import { isId, newId } from "#shared/ids.ts";
import { quarterSql } from "../reports/rollup/kinds.ts";
import { isToolText, toolStatements } from "./tools/tool-calls.ts";

export type Statement = { text: string; values: readonly (string | null)[] };

/** Where finished records go. Every write is safe to repeat. */
export type RecordStore = {
  /**
   * Inserts rows, each the JSON of a `RequestRow`, in one transaction; stored rows are kept. Observations of tool calls
   * (tool-calls.ts) are merged in separate statements. Rejects within 5 s if Postgres does not answer; whether the rows
   * were stored is then unknown, so repeat.
   */
  insert(rows: readonly string[]): Promise<void>;
  /** Records in `dead_records` that a row was refused for its data. Returns its id, or null if the id is invalid. */
  park(row: string, code: string, at: Date): Promise<string | null>;
  close(): Promise<void>;
};

const POOL = {
  name: "recorder",
  max: 1,
  keepsIdle: true,
  deadlineMs: 5000,
  statementTimeoutMs: 4000,
  lockTimeoutMs: 2000,
  // A transaction left behind by a connection thrown away must not keep its rows locked.
  idleTransactionTimeoutMs: 5000,
};

/** SQLSTATE classes of errors in the row: bad data, a broken constraint, a value too large for an index. */
const DATA_CLASSES = ["22", "23", "54"];
/** The table has no check constraint: this error means that a month was just attached, and a retry succeeds. */
const PARTITION_MOVED = "23514";

/** The SQLSTATE if Postgres refused a row for its data; null for every temporary failure. */
export function refusedForData(error: unknown): string | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  if (error.code === PARTITION_MOVED) return null;
  return DATA_CLASSES.includes(error.code.slice(0, 2)) ? error.code : null;
}

/**
 * The ingest statement, made from the table: its first parameter is a JSON array of rows whose members are named as
 * in `RequestRow`. A member that is missing becomes the column's default, so rows spooled before a migration fit. The
 * quarter hours of new rows are marked for rollups, under the id in the second parameter.
 */
export function ingestStatement(): string {
  const { columns, values, types } = jsonRows(requests, {
    orDefault: (value, absent) => {
      if (typeof absent === "boolean") return `coalesce(${value}, ${absent})`;
      return typeof absent === "string" ? `coalesce(${value}, '${absent.replaceAll("'", "''")}')` : value;
    },
  });
  return (
    `WITH "booked" AS (INSERT INTO "requests" (${columns}) SELECT ${values} ` +
    `FROM json_to_recordset($1::text::json) AS r(${types}) ON CONFLICT DO NOTHING ` +
    `RETURNING "org_id", "started_at") ` +
    `INSERT INTO "rollup_marks" ("org_id", "hour", "id") ` +
    `SELECT DISTINCT "org_id", ${quarterSql('"started_at"')}, $2::text::uuid FROM "booked"`
  );
}

const INGEST = ingestStatement();

/** The rows of a batch. Triggers of the table derive all other data from records, in the same transaction. */
export const batchStatement = (rows: readonly string[]): Statement => ({
  text: INGEST,
  values: [`[${rows.join(",")}]`, newId()],
});

const PARK =
  "INSERT INTO dead_records (org_id, id, key_id, started_at, parked_at, code) " +
  "VALUES (coalesce($1::text, 'default'), $2::text::uuid, $3::text::uuid, $4::text::timestamptz, $5::text::timestamptz, $6) " +
  "ON CONFLICT DO NOTHING";

/** Opens the recorder's own connection to Postgres: at once, before others take the server's last one, and again when it must. */
export function openRecordStore(databaseUrl: string): RecordStore {
  const { query, close } = deadlinePool(databaseUrl, POOL);
  query((sql) => sql`select 1`).catch(() => undefined);

  /**
   * Runs one statement as an implicit transaction. In an explicit one, postgres.js would write a rollback to a lost
   * connection; nothing can catch the resulting error, which ends the process. If it is abandoned, its outcome does not
   * matter: its rows are written again.
   */
  const run = ({ text, values }: Statement) =>
    query((sql) => sql.unsafe(text, [...values], { prepare: true }));

  return {
    async insert(rows) {
      const ofTools = rows.filter(isToolText);
      const calls = ofTools.length === 0 ? rows : rows.filter((row) => !isToolText(row));
      if (calls.length > 0) await run(batchStatement(calls));
      for (const statement of toolStatements(ofTools)) await run(statement);
    },
    async park(row, code, at) {
      const { orgId, id, keyId, startedAt } = identityOf(row);
      if (id === null) return null;
      try {
        await run({ text: PARK, values: [orgId, id, keyId, startedAt, at.toISOString(), code] });
      } catch (error) {
        // The spool keeps the row; a note that cannot be made either must not stop the queue.
        if (refusedForData(error) === null) throw error;
      }
      return id;
    },
    close: () => close(1),
  };
}

type Identity = { orgId: string | null; id: string | null; keyId: string | null; startedAt: string | null };

/** The parts of a refused row that are safe to store: ids that are ids, and a time that is one. */
function identityOf(row: string): Identity {
  const { orgId, id, keyId, startedAt }: Record<string, unknown> = JSON.parse(row);
  const idOf = (value: unknown) => (typeof value === "string" && isId(value) ? value : null);
  const isTime =
    typeof startedAt === "string" && /^\d{4}-/.test(startedAt) && !Number.isNaN(Date.parse(startedAt));
  return {
    orgId: typeof orgId === "string" && !orgId.includes("\0") ? orgId : null,
    id: idOf(id),
    keyId: idOf(keyId),
    startedAt: isTime ? startedAt : null,
  };
}
