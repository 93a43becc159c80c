import type { ClickHouseClient } from "@clickhouse/client";
import type postgres from "postgres";
import type { Clock } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Log } from "#shared/log.ts";
import { isSummed } from "../../reports/buckets/columns.ts";
import type { Place } from "./cluster.ts";
import { deleteCopies } from "./delete.ts";
import { insertRows } from "./insert.ts";
import { goneKeys, markedRows, withKeys } from "./rows.ts";
import { COPIED_TABLES, type CopiedTable } from "./schema.ts";
import { hourOf, voidHours } from "./sum-up.ts";

export type CopyDeps = { sql: postgres.Sql; client: ClickHouseClient; clock: Clock; log: Log; place: Place };

/** Of one round: few enough to be read and sent in a second or two. */
const MARKS_MAX = 1000;
const ROWS_MAX = 5000;

/** The rows that marks name are few among all: each is looked up by its key, however the server estimates their number. */
const BY_KEY =
  "set local enable_hashjoin = off; set local enable_mergejoin = off; set local enable_seqscan = off";

/** A row, and when a call began. */
export type Line = { line: string; ms?: number };

type Mark = { id: string; relation: string; rows: number };

/**
 * Copies rows that are marked, as they are now, and removes their marks once ClickHouse has stored the rows. True: more are
 * marked than one round takes; false: all that were marked are copied, or another process copies. A process that dies in
 * between leaves the marks, and the rows are copied again: the copy has a higher version, so that it takes the place of the
 * first.
 */
export async function copyMarked(deps: CopyDeps): Promise<boolean> {
  const [mark] = await deps.sql`select 1 from clickhouse_marks where org_id = ${DEFAULT_ORG} limit 1`;
  if (!mark) return false;
  return await deps.sql.begin(async (tx) => {
    await tx.unsafe(BY_KEY);
    const [turn] = await tx`
      select 1 from clickhouse_state where org_id = ${DEFAULT_ORG} for update skip locked`;
    if (!turn) return false;
    const { marks, isAll } = await takeMarks(tx);
    if (marks.length === 0) return false;
    const version = await nextVersion(tx);
    for (const name of COPIED_TABLES) {
      const own = marks.filter((mark) => mark.relation === name);
      if (own.length > 0) await copyRowsOf(deps, tx, { name, marks: own, version });
    }
    const ids = JSON.stringify(marks.map((mark) => mark.id));
    await tx`
      delete from clickhouse_marks where org_id = ${DEFAULT_ORG}
        and id in (select value::uuid from json_array_elements_text(${ids}::text::json))`;
    return !isAll;
  });
}

/** In no order: a mark says that rows are to be copied as they are, not what became of them. */
async function takeMarks(tx: postgres.TransactionSql): Promise<{ marks: Mark[]; isAll: boolean }> {
  const marks = await tx<Mark[]>`
    select id, relation, rows from clickhouse_marks where org_id = ${DEFAULT_ORG} limit ${MARKS_MAX}`;
  let rows = 0;
  const taken = marks.filter((mark, place) => {
    rows += mark.rows;
    return place === 0 || rows <= ROWS_MAX;
  });
  return { marks: taken, isAll: marks.length < MARKS_MAX && taken.length === marks.length };
}

/**
 * A number higher than that of every copy so far: the microseconds of the database's clock, or, if that was set back, one
 * more than the last. Who holds the state's lock reads rows later than everyone who has a lower number.
 */
export async function nextVersion(sql: postgres.ISql): Promise<string> {
  const [state] = await sql<{ version: string }[]>`
    update clickhouse_state
    set version = greatest(version + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)
    where org_id = ${DEFAULT_ORG} returning version::text as version`;
  if (!state) throw new Error("rows are not marked for ClickHouse");
  return state.version;
}

async function copyRowsOf(
  deps: CopyDeps,
  tx: postgres.TransactionSql,
  { name, marks, version }: { name: CopiedTable; marks: readonly Mark[]; version: string },
): Promise<void> {
  const { client, clock, log } = deps;
  const ids = marks.map(({ id }) => id).sort();
  const marked = marks.reduce((sum, mark) => sum + mark.rows, 0);
  const rows = await tx.unsafe<Line[]>(markedRows(name), [version, DEFAULT_ORG, JSON.stringify(ids)]);
  if (rows.length < marked) {
    const gone = await tx.unsafe<Record<string, string>[]>(goneKeys(name), [
      DEFAULT_ORG,
      JSON.stringify(ids),
    ]);
    await voidBefore(client, { name, rows: [], gone, version });
    if (gone.length > 0) await deleteCopies(deps, name, withKeys(name, gone));
  }
  const token = new Bun.CryptoHasher("sha256").update(ids.join()).digest("hex");
  const park = parking({ sql: tx, clock, log }, name);
  if (name === "requests") await tx.unsafe(ACCEPTED, [DEFAULT_ORG, JSON.stringify(ids)]);
  await voidBefore(client, { name, rows, version });
  await insertRows(client, { name, lines: rows.map(({ line }) => line), token }, park);
}

type Key = Readonly<Record<string, string>>;
type Changed = { name: CopiedTable; rows: readonly Line[]; gone?: readonly Key[]; version: string };

/** Sums of hours to which rows come, and from which they go. */
export async function voidBefore(
  client: ClickHouseClient,
  { name, rows, gone = [], version }: Changed,
): Promise<void> {
  if (!isSummed(name)) return;
  const of = rows.flatMap(({ ms }) => (ms == null ? [] : [hourOf(ms)]));
  const left = gone.map((key) => hourOf(Date.parse(`${key["started_at"]}Z`)));
  await voidHours(client, { source: name, hours: [...of, ...left], version });
}

/** Rows that ClickHouse refused are tried again when they change: then they are noted again, or no longer. */
const ACCEPTED = `delete from dead_records d using (
    select (k ->> 'id')::uuid as id from clickhouse_marks m cross join lateral jsonb_array_elements(m.keys) k
    where m.org_id = $1::text and m.id in (select value::uuid from json_array_elements_text($2::text::json))
  ) k where d.org_id = $1::text and d.id = k.id and d.code like 'clickhouse %'`;

type Parked = Partial<Record<"id" | "key_id" | "started_at", string>>;

/** Handles a row that ClickHouse refuses: it stays in Postgres, is noted there, and does not block others. */
export const parking =
  ({ sql, clock, log }: { sql: postgres.ISql } & Pick<CopyDeps, "clock" | "log">, name: CopiedTable) =>
  async (line: string, number: string): Promise<void> => {
    // Postgres wrote it: only `requests` has all three.
    const { id = null, key_id: keyId = null, started_at: startedAt = null } = JSON.parse(line) as Parked;
    const code = `clickhouse ${number}`;
    log.error({ id, table: name, code }, "ClickHouse refused a row, which stays in Postgres alone");
    if (name !== "requests") return;
    const values = [DEFAULT_ORG, id, keyId, startedAt, clock.now().toISOString(), code];
    await sql.unsafe(
      `insert into dead_records (org_id, id, key_id, started_at, parked_at, code)
      values ($1::text, $2::text::uuid, $3::text::uuid, $4::text::timestamptz, $5::text::timestamptz, $6)
      on conflict do nothing`,
      values,
    );
  };
