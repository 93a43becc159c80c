/** A row by the names of its columns. */
export type CsvRow = Readonly<Record<string, string>>;

/** A semicolon or a tab separates the fields where the first row has more of them than commas. */
export function separatorOf(text: string): "," | ";" | "\t" {
  const head = /^[^\r\n]*/.exec(text)?.[0] ?? "";
  const [first] = ([",", ";", "\t"] as const).toSorted((a, b) => head.split(b).length - head.split(a).length);
  return first ?? ",";
}

/**
 * Rows of a CSV file (RFC 4180) whose first row names its columns.
 * @throws RangeError at a quote that is never closed, and at a row that has other columns than the first
 */
export function* csvRows(text: string): Generator<CsvRow> {
  const by = separatorOf(text);
  const field = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"${by}\\r\\n]*))(${by}|\\r?\\n|\\r|$)`, "y");
  let names: string[] | null = null;
  let row: string[] = [];
  field.lastIndex = text.startsWith("\uFEFF") ? 1 : 0;
  while (field.lastIndex < text.length || row.length > 0) {
    const [, quoted, plain = "", end] = field.exec(text) ?? [];
    if (end === undefined) throw new RangeError("a quoted field does not end as it should");
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === by) continue;
    if (names === null) names = row.map((name) => name.trim());
    else if (row.some((field) => field !== "")) yield rowOf(names, row);
    row = [];
  }
}

/** Fields that a row has too few or too many would move its figures to other columns. */
function rowOf(names: readonly string[], fields: readonly string[]): CsvRow {
  if (fields.length < names.length || fields.slice(names.length).some((field) => field !== "")) {
    throw new RangeError(`it has ${fields.length} fields, and the first row ${names.length}`);
  }
  return Object.fromEntries(names.map((name, index) => [name, fields[index] ?? ""]));
}
