import type { TransactionSql } from "postgres";
import { counted } from "#shared/plural.ts";
import { AGES } from "../ages.ts";
import { addMonth, monthOf } from "../partitions.ts";

/** Rows that are carried from one database to another at once: a table, or a month (its first day) of `requests`. */
export type DataPart = { table: string; month: string | null; columns: string[] };

/** Enough to tell that two databases have the same rows. */
export type PartSum = { rows: number; sum: string };

/** Rows of one statement, and its size at most. */
const BATCH = { rows: 1000, characters: 4_000_000 };

/** Of running gateways, and of copies that another database has: not carried. */
const RUNNING = /^(limit_(holders|holds|leases|rates)|clickhouse_\w+)$/;

const CARRIED: readonly string[] = Object.keys(AGES).filter((table) => !RUNNING.test(table));

/** What there is to carry. */
export async function dataParts(sql: TransactionSql, without: readonly string[] = []): Promise<DataPart[]> {
  const tables = CARRIED.filter((table) => !without.includes(table));
  const columns = await sql<{ table: string; names: string[] }[]>`
    select attrelid::regclass::text as table, array_agg(attname::text order by attnum) as names from pg_attribute
    where attrelid = any(array(select to_regclass(name)::oid from unnest(${`{${tables.join()}}`}::text::text[]) name))
      and attnum > 0 and not attisdropped group by 1 order by 1`;
  const months = await sql<{ month: string }[]>`
    select distinct to_char(started_at at time zone 'UTC', 'YYYY-MM-01') as month from requests order by 1`;
  return columns.flatMap(({ table, names }): DataPart[] => {
    const parts = table === "requests" ? months : [{ month: null }];
    return parts.map(({ month }) => ({ table, month, columns: names }));
  });
}

export const partName = ({ table, month }: Omit<DataPart, "columns">): string =>
  month === null ? table : `${table} ${month}`;

const whereOf = ({ month }: DataPart): string => {
  if (month === null) return "true";
  const { from, to } = monthOf(new Date(`${month}T00:00:00Z`));
  return `started_at >= '${from} 00:00:00+00' and started_at < '${to} 00:00:00+00'`;
};
const listOf = ({ columns }: DataPart): string => columns.map((name) => `"${name}"`).join(", ");

/** The rows as JSON, one text of one line each. By a cursor: COPY by postgres.js hangs on Bun once its reader is slow. */
export async function* partRows(sql: TransactionSql, part: DataPart): AsyncGenerator<string> {
  const rows = `select ${listOf(part)} from ${part.table} where ${whereOf(part)}`;
  await sql.unsafe(
    `declare carried no scroll cursor for select row_to_json(r)::text as row from (${rows}) r`,
  );
  for (let got = BATCH.rows; got === BATCH.rows; ) {
    const fetched = await sql.unsafe<{ row: string }[]>(`fetch ${BATCH.rows} from carried`);
    for (const { row } of fetched) yield row;
    got = fetched.length;
  }
  await sql`close carried`;
}

/** How many rows, and the sum of a hash of each: the same in two databases only if the rows are. */
export async function partSum(sql: TransactionSql, part: DataPart): Promise<PartSum> {
  const [found] = await sql.unsafe<PartSum[]>(
    `select count(*)::float8 as rows, coalesce(sum(hashtextextended(row(${listOf(part)})::text, 0)::numeric), 0)::text as sum
    from ${part.table} where ${whereOf(part)}`,
  );
  return { rows: found?.rows ?? 0, sum: found?.sum ?? "" };
}

/** Stores the rows in place of those that are there, as they are: no trigger books, counts or marks them again. */
export async function load(tx: TransactionSql, part: DataPart, rows: AsyncIterable<string>): Promise<void> {
  if (part.month !== null) await addMonth(tx, monthOf(new Date(`${part.month}T00:00:00Z`)));
  const text = `insert into ${part.table} (${listOf(part)})
    select ${listOf(part)} from json_populate_recordset(null::${part.table}, $1::text::json)`;
  let batch: string[] = [];
  let characters = 0;
  const store = async () => {
    if (batch.length > 0) await tx.unsafe(text, [`[${batch.join()}]`]);
    batch = [];
    characters = 0;
  };
  await tx.unsafe(`alter table ${part.table} disable trigger user`);
  await tx.unsafe(`delete from ${part.table} where ${whereOf(part)}`);
  for await (const row of rows) {
    batch.push(row);
    characters += row.length;
    if (batch.length >= BATCH.rows || characters > BATCH.characters) await store();
  }
  await store();
  await tx.unsafe(`alter table ${part.table} enable trigger user`);
}

export const isSame = (a: PartSum, b: PartSum): boolean => a.rows === b.rows && a.sum === b.sum;

/** @throws Error if the part is not what it was. */
export async function requireSame(tx: TransactionSql, part: DataPart, expected: PartSum): Promise<void> {
  const found = await partSum(tx, part);
  if (isSame(found, expected)) return;
  throw new Error(
    `${partName(part)} differs: ${found.rows} of ${counted(expected.rows, "row")} arrived${found.rows === expected.rows ? ", with other contents" : ""}. Nothing of it was kept.`,
  );
}

/** @throws Error while a gateway uses the database. */
export async function requireIdle(sql: TransactionSql, what: string): Promise<void> {
  const [row] = await sql<{ alive: number }[]>`
    select count(*)::int as alive from limit_holders where seen_at > now() - interval '15 seconds'`;
  if (!row?.alive) return;
  throw new Error(
    `${what} is in use by ${row.alive} gateway process${row.alive === 1 ? "" : "es"}. Stop the gateway and the GitHub App, wait 15 seconds, and try again.`,
  );
}

/** Whether an installation has begun to use the database. */
export async function isUsed(sql: TransactionSql): Promise<boolean> {
  const [row] = await sql<{ used: boolean }[]>`
    select exists (select 1 from keys) or exists (select 1 from requests) as used`;
  return row?.used ?? false;
}
