import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { type Static, Type } from "@sinclair/typebox";
import type { TransactionSql } from "postgres";
import { parsedJson } from "#shared/json.ts";
import { fits } from "#shared/schema.ts";
import { connected } from "../database.ts";
import { type DataPart, dataParts, type PartSum, partRows, partSum } from "./parts.ts";

/** Sign-ins under way: people sign in again after a restore. */
const SIGN_INS = ["person_sessions", "device_sign_ins", "sign_in_verifications"];

const Header = Type.Object({
  tallygate_backup: Type.Literal(1),
  /** RFC 3339, by the database's clock. */
  taken_at: Type.String(),
  /** When the last migration of the database was made, in ms since 1970: its key in the journal of migrations. */
  migration: Type.Number(),
});
const PartHeader = Type.Object({
  part: Type.Object({
    table: Type.String({ pattern: "^[a-z_]+$" }),
    month: Type.Union([Type.String({ pattern: "^\\d{4}-\\d\\d-01$" }), Type.Null()]),
    columns: Type.Array(Type.String({ pattern: "^[a-z0-9_]+$" })),
  }),
  rows: Type.Number(),
  sum: Type.String(),
});
const End = Type.Object({ end: Type.Number() });
export type BackupHeader = Static<typeof Header>;

export type Contents = { header: BackupHeader; rows: number };

/**
 * Writes everything but running calls and sign-ins to one file: gzip, a line for each row, of one snapshot, while calls
 * continue. `onPart` is called with each part. The file is there once it is complete.
 */
export async function writeBackup(
  url: string,
  file: string,
  onPart: (part: DataPart) => void,
): Promise<Contents> {
  const unfinished = `${file}.unfinished`;
  const write = async (sql: TransactionSql): Promise<Contents> => {
    const [header] = await sql<BackupHeader[]>`
      select 1 as tallygate_backup, to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as taken_at,
        (select max(created_at)::float8 from drizzle.__drizzle_migrations) as migration`;
    if (!header) throw new RangeError("a select without a table has one row");
    let rows = 0;
    async function* lines(): AsyncGenerator<string> {
      yield `${JSON.stringify(header)}\n`;
      for (const part of await dataParts(sql, SIGN_INS)) {
        const sum = await partSum(sql, part);
        onPart(part);
        rows += sum.rows;
        yield `${JSON.stringify({ part, ...sum })}\n`;
        for await (const row of partRows(sql, part)) yield `${row}\n`;
      }
      yield `${JSON.stringify({ end: rows })}\n`;
    }
    await pipeline(Readable.from(lines()), createGzip(), createWriteStream(unfinished, { mode: 0o600 }));
    await sync(unfinished);
    await rename(unfinished, file);
    return { header, rows };
  };
  try {
    return await connected(url, { name: "backup", statementTimeoutMs: 0 }, (client) =>
      client.begin("isolation level repeatable read read only", write),
    );
  } finally {
    await rm(unfinished, { force: true });
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r");
  await handle.sync();
  await handle.close();
}

/** A part of a backup; `rows` must be read to their end. */
export type BackupPart = { part: DataPart; expected: PartSum; rows: AsyncIterable<string> };

/** Reads a backup from its beginning to its end. @throws Error if it is not a backup, or is damaged. */
export async function readBackup<T>(
  file: string,
  work: (header: BackupHeader, parts: AsyncIterable<BackupPart>) => Promise<T>,
): Promise<T> {
  const unzipped = createGunzip().on("error", () => source.destroy());
  const source = createReadStream(file).on("error", (error) => unzipped.destroy(error));
  const lines = linesOf(source.pipe(unzipped));
  const broken = (cause?: unknown) => new Error(`${file} is no complete backup of Tallygate.`, { cause });
  const next = async (): Promise<string | null> => {
    const { value, done } = await lines.next().catch((error) => {
      throw broken(error);
    });
    return done ? null : value;
  };
  async function* parts(): AsyncGenerator<BackupPart> {
    for (let line = await next(); ; line = await next()) {
      const head = parsedJson(line ?? "");
      if (fits(End, head)) return;
      if (!fits(PartHeader, head)) throw broken();
      let left = head.rows;
      async function* rows(): AsyncGenerator<string> {
        for (; left > 0; left--) {
          const row = await next();
          if (row === null) throw broken();
          yield row;
        }
      }
      yield { part: head.part, expected: { rows: head.rows, sum: head.sum }, rows: rows() };
    }
  }
  const header = parsedJson((await next()) ?? "");
  if (!fits(Header, header)) throw broken();
  try {
    return await work(header, parts());
  } finally {
    source.destroy();
  }
}

const NEWLINE = 10;

/** Split at line feeds alone: rows contain other ends of lines. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, to)]).toString();
      rest = [];
      from = to + 1;
    }
    rest.push(chunk.subarray(from));
  }
}
