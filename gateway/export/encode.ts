import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { parseDecimal } from "#shared/decimal.ts";
import { csvLine, textCell } from "../reports/csv.ts";
import type { ColumnType, ExportColumn } from "./focus-columns.ts";
import type { ExportFormat } from "./formats.ts";

export const EXPORT_TYPES = {
  ndjson: "application/x-ndjson",
  csv: "text/csv; charset=utf-8",
  parquet: "application/vnd.apache.parquet",
} as const satisfies Record<ExportFormat, string>;

type Row = Readonly<Record<string, unknown>>;
/** Rows as they come; `columns` are the only ones written. */
export type Export = { columns: readonly ExportColumn[]; rows: AsyncIterable<readonly Row[]> };

/** The bytes of a file, as fast as they are taken: a page of rows is held at a time. */
export async function* encoded({ columns, rows }: Export, format: ExportFormat): AsyncGenerator<Uint8Array> {
  if (format === "parquet") return yield* parquet({ columns, rows });
  const encoder = new TextEncoder();
  if (format === "csv") yield encoder.encode(csvLine(columns.map(({ name }) => name)));
  for await (const page of rows) {
    const lines = page.map((row) =>
      format === "csv"
        ? csvLine(columns.map(({ name }) => textCell(textOf(row[name]))))
        : `${JSON.stringify(Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null])))}\n`,
    );
    yield encoder.encode(lines.join(""));
  }
}

const textOf = (value: unknown): string => (Array.isArray(value) ? value.join(" ") : String(value ?? ""));

/**
 * As a stream that asks for the next page when the last one is taken, and stops when its reader leaves. The first page is there
 * already, so that a database that is away is an error of the request.
 */
export async function exportStream(file: Export, format: ExportFormat): Promise<ReadableStream<Uint8Array>> {
  const bytes = encoded(file, format);
  let next: Promise<IteratorResult<Uint8Array>> | null = Promise.resolve(await bytes.next());
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await (next ?? bytes.next());
      next = null;
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await bytes.return(undefined);
    },
  });
}

/** Exact numbers: 14 digits before the point, 24 behind it, as money is stored. */
const DECIMAL = { type_length: 16, precision: 38, scale: 24 };
const ELEMENTS = {
  decimal: { type: "FIXED_LEN_BYTE_ARRAY", converted_type: "DECIMAL", ...DECIMAL },
  datetime: { type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
  string: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  json: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  boolean: { type: "BOOLEAN" },
  integer: { type: "INT64" },
} as const satisfies Record<ColumnType, object>;

async function* parquet({ columns, rows }: Export): AsyncGenerator<Uint8Array> {
  const writer = new ByteWriter();
  const taken = () => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    return bytes;
  };
  const schema = columns.map(({ name, type, nullable }) => ({
    name,
    repetition_type: nullable ? ("OPTIONAL" as const) : ("REQUIRED" as const),
    ...ELEMENTS[type],
  }));
  const file = new ParquetWriter({
    writer,
    schema: [{ name: "root", num_children: columns.length }, ...schema],
    createdBy: "tallygate",
  });
  for await (const page of rows) {
    const columnData = columns.map(({ name, type }) => ({
      name,
      data: page.map((row) => parquetValue(row[name], type)),
    }));
    await file.write({ columnData, rowGroupSize: page.length });
    yield taken();
  }
  await file.finish();
  yield taken();
}

function parquetValue(value: unknown, type: ColumnType): unknown {
  if (value === null || value === undefined) return null;
  if (type === "boolean") return value === true;
  if (type === "integer") return BigInt(String(value));
  if (type === "datetime") return new Date(String(value));
  if (type !== "decimal") return typeof value === "object" ? JSON.stringify(value) : String(value);
  const { num, den } = parseDecimal(String(value));
  return (num * 10n ** BigInt(DECIMAL.scale)) / den;
}
