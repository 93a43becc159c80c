import { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import { ClickHouseError } from "@clickhouse/client";
import type { CopiedTable } from "./schema.ts";

/** Rows of one table, each the JSON of one, and what the insertion is known by: the same for the same rows. */
export type Insertion = { name: CopiedTable; lines: readonly string[]; token: string };

/** Called with a row that ClickHouse refuses for its data, and the number of the error. */
type Refused = (line: string, code: string) => Promise<void>;

/** Errors in a row: a text that cannot be read, a value out of its range, a wrong type. */
const DATA_CODES = new Set([
  "6",
  "26",
  "27",
  "33",
  "38",
  "41",
  "53",
  "69",
  "70",
  "72",
  "321",
  "376",
  "407",
  "467",
]);

/** The number of the error if ClickHouse refused rows for their data; null for every other failure. */
const refusedForData = (error: unknown): string | null =>
  error instanceof ClickHouseError && DATA_CODES.has(error.code) ? error.code : null;

/**
 * Resolves when ClickHouse has stored every row but those that it refuses for their data, which bisection finds. Rejects if
 * it does not answer in time or cannot store; whether rows were stored is then unknown, so repeat.
 */
export async function insertRows(
  client: ClickHouseClient,
  insertion: Insertion,
  refused: Refused,
): Promise<void> {
  const { lines, token } = insertion;
  if (lines.length === 0) return;
  try {
    await insert(client, insertion);
  } catch (error) {
    const code = refusedForData(error);
    if (code === null) throw error;
    const [line = ""] = lines;
    if (lines.length === 1) return refused(line, code);
    const half = lines.length >> 1;
    await insertRows(client, { ...insertion, lines: lines.slice(0, half), token: `${token}.0` }, refused);
    await insertRows(client, { ...insertion, lines: lines.slice(half), token: `${token}.1` }, refused);
  }
}

async function insert(client: ClickHouseClient, { name, lines, token }: Insertion): Promise<void> {
  const { stream } = await client.exec({
    query: `INSERT INTO ${name} FORMAT JSONEachRow`,
    // Postgres wrote the rows as JSON, so nothing is to be serialised here.
    values: Readable.from([lines.join("\n")], { objectMode: false }),
    clickhouse_settings: {
      insert_deduplication_token: token,
      wait_end_of_query: 1,
      // A batch has rows of few months, unless old records are repriced.
      max_partitions_per_insert_block: "1000",
      // An answer means that the shards have stored the rows, not that they will.
      distributed_foreground_insert: 1,
    },
  });
  for await (const _ of stream);
}
