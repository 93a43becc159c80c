/** SQLite's own checksums cover its log but not its file: each row carries one of its own. */
export const rowSum = ({ seq, text }: { seq: number; text: string }): number =>
  (Bun.hash.crc32(text) ^ Math.imul(seq, 0x9e3779b1)) >>> 0;

/** A segment gave back something else than was written. `code` is like SQLite's own for a damaged file. */
export class DamagedSegment extends Error {
  override readonly name = "DamagedSegment";
  readonly code = "SQLITE_CORRUPT_ROWS";
}

type SummedRow = { seq: number; text: string; sum: number | null };

/** @throws DamagedSegment if the text of a row is not what was written. Rows of before 0.3 have no sum. */
export function checkSums(rows: readonly SummedRow[]): void {
  for (const row of rows)
    if (row.sum !== null && row.sum !== rowSum(row)) throw new DamagedSegment(`row ${row.seq} has changed`);
}

/** @throws DamagedSegment if a row between `after` and the last one is missing: numbers are dense. */
export function checkDense(rows: readonly SummedRow[], after: number): void {
  rows.forEach(({ seq }, index) => {
    if (seq !== after + 1 + index) throw new DamagedSegment(`row ${after + 1 + index} is missing`);
  });
}
