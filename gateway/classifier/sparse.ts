/** A sparse vector: the entry in column `ids[i]` is `values[i]`. */
export type SparseVector = { ids: Int32Array; values: Float32Array };

/** Sparse rows end to end: row `r` is `ids` and `values` from `starts[r]` to `starts[r + 1]`. */
export type Rows = SparseVector & { starts: Int32Array; count: number; width: number };

/** Lays vectors end to end. `width` is the number of columns. */
export function rowsOf(vectors: readonly SparseVector[], width: number): Rows {
  const starts = new Int32Array(vectors.length + 1);
  for (const [row, vector] of vectors.entries()) starts[row + 1] = (starts[row] ?? 0) + vector.ids.length;
  const total = starts[vectors.length] ?? 0;
  const ids = new Int32Array(total);
  const values = new Float32Array(total);
  for (const [row, vector] of vectors.entries()) {
    ids.set(vector.ids, starts[row] ?? 0);
    values.set(vector.values, starts[row] ?? 0);
  }
  return { starts, ids, values, count: vectors.length, width };
}

/** One row of them; shares its memory. */
export const rowAt = ({ starts, ids, values }: Rows, row: number): SparseVector => ({
  ids: ids.subarray(starts[row], starts[row + 1]),
  values: values.subarray(starts[row], starts[row + 1]),
});

export function rowDot({ starts, ids, values }: Rows, row: number, dense: Float32Array): number {
  const end = starts[row + 1] ?? 0;
  let product = 0;
  for (let at = starts[row] ?? 0; at < end; at++) product += (values[at] ?? 0) * (dense[ids[at] ?? 0] ?? 0);
  return product;
}

/** The same vector with length 1; a zero vector stays zero. */
export function unitVector(vector: SparseVector): SparseVector {
  const length = Math.sqrt(squaredLength(vector)) || 1;
  return { ids: vector.ids, values: vector.values.map((value) => value / length) };
}

export function squaredLength({ values }: SparseVector): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += (values[at] ?? 0) ** 2;
  return sum;
}

/** Scores per class: the bias, which is the last row of `weights[column * classes + class]`, plus each column's share. */
export function scoresOf(
  { ids, values }: SparseVector,
  weights: Float32Array,
  classes: number,
): Float64Array {
  const scores = Float64Array.from(weights.subarray(weights.length - classes));
  for (let at = 0; at < ids.length; at++) {
    const value = values[at] ?? 0;
    const base = (ids[at] ?? 0) * classes;
    for (let target = 0; target < classes; target++) {
      scores[target] = (scores[target] ?? 0) + value * (weights[base + target] ?? 0);
    }
  }
  return scores;
}
