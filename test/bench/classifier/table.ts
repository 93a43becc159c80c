/** One line of the table: what, what was measured, and its bar. */
export type Row = { what: string; ours: string; bar: string; met: boolean | null };

const rows: Row[] = [];

/** Prints a measured row at once; long runs show where they are. `met` null: no bar is set. */
export function report(row: Row): void {
  rows.push(row);
  const mark = row.met === null ? "    " : row.met ? "met " : "MISS";
  console.log(`${mark}  ${row.what.padEnd(46)} ${row.ours.padEnd(30)} ${row.bar}`);
}

export const percent = (share: number) => (100 * share).toFixed(1);
export const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** How many rows with a bar met it. */
export function summary(): string {
  const held = rows.filter(({ met }) => met !== null);
  return `${held.filter(({ met }) => met).length} of ${held.length} bars met`;
}
