import type { RequestRow } from "#drizzle/schema/records.ts";

/** The row as JSON without its nulls, which would be half of it: the ingest stores a member that is missing as null. */
export function recordText(row: RequestRow): string {
  const known: Partial<Record<keyof RequestRow, unknown>> = {};
  for (const name in row) {
    const value = row[name as keyof RequestRow];
    if (value !== null) known[name as keyof RequestRow] = value;
  }
  return JSON.stringify(known);
}
