/** A row by the names of its columns. */
export type CsvRow = Readonly<Record<string, string>>;

const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|$)/y;

/** Rows of a CSV file (RFC 4180) whose first row names its columns. @throws RangeError at a quote that is never closed */
export function* csvRows(text: string): Generator<CsvRow> {
  let names: string[] | null = null;
  let row: string[] = [];
  FIELD.lastIndex = text.startsWith("\uFEFF") ? 1 : 0;
  for (let at = FIELD.lastIndex; at < text.length || row.length > 0; at = FIELD.lastIndex) {
    FIELD.lastIndex = at;
    const [, quoted, plain = "", end] = FIELD.exec(text) ?? [];
    if (end === undefined) throw new RangeError("a quoted field does not end as it should");
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    const next = FIELD.lastIndex;
    if (end === ",") continue;
    if (names === null) names = row.map((name) => name.trim());
    else if (row.some((field) => field !== "")) {
      const fields = row;
      yield Object.fromEntries(names.map((name, index) => [name, fields[index] ?? ""]));
    }
    row = [];
    FIELD.lastIndex = next;
  }
}
