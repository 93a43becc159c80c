/** Sparse rows end to end: row `r` is `ids` and `values` from `starts[r]` to `starts[r + 1]`. */
export type Rows = {
  starts: Int32Array;
  ids: Int32Array;
  values: Float32Array;
  count: number;
  width: number;
};

export type SparseVector = { ids: Int32Array; values: Float32Array };

/** Lays vectors end to end. `width` is the number of columns. */
export function rowsOf(vectors: readonly SparseVector[], width: number): Rows {
  const starts = new Int32Array(vectors.length + 1);
  for (const [row, vector] of vectors.entries()) starts[row + 1] = (starts[row] ?? 0) + vector.ids.length;
  const total = starts[vectors.length] ?? 0;
  const rows = {
    starts,
    ids: new Int32Array(total),
    values: new Float32Array(total),
    count: vectors.length,
    width,
  };
  for (const [row, vector] of vectors.entries()) {
    rows.ids.set(vector.ids, starts[row] ?? 0);
    rows.values.set(vector.values, starts[row] ?? 0);
  }
  return rows;
}

/**
 * Adds to every class's score what the entries from `start` to `end` give it. Four columns a turn, so that each score is
 * fetched and put back once for four of them; a score is still summed in the order of the entries. The first class goes
 * before the others: that has memory fetch all columns side by side, which four at a time would wait for.
 */
export function addScores(
  { ids, values }: SparseVector,
  start: number,
  end: number,
  weights: Float32Array,
  scores: Float64Array,
): void {
  const classes = scores.length;
  let leader = scores[0] as number;
  for (let one = start; one < end; one++) {
    leader += (values[one] as number) * (weights[(ids[one] as number) * classes] as number);
  }
  scores[0] = leader;
  let at = start;
  for (; at + 3 < end; at += 4) {
    const one = values[at] as number;
    const two = values[at + 1] as number;
    const three = values[at + 2] as number;
    const four = values[at + 3] as number;
    const first = (ids[at] as number) * classes;
    const second = (ids[at + 1] as number) * classes;
    const third = (ids[at + 2] as number) * classes;
    const fourth = (ids[at + 3] as number) * classes;
    for (let target = 1; target < classes; target++) {
      let score = scores[target] as number;
      score += one * (weights[first + target] as number);
      score += two * (weights[second + target] as number);
      score += three * (weights[third + target] as number);
      score += four * (weights[fourth + target] as number);
      scores[target] = score;
    }
  }
  for (; at < end; at++) {
    const value = values[at] as number;
    const base = (ids[at] as number) * classes;
    for (let target = 1; target < classes; target++) {
      scores[target] = (scores[target] as number) + value * (weights[base + target] as number);
    }
  }
}

/** One decision value per class: the bias row of the weights plus the share of the vector's first `size` entries. */
export function scoresOf(
  vector: SparseVector,
  size: number,
  weights: Float32Array,
  { width, classes }: { width: number; classes: number },
): Float64Array {
  const scores = new Float64Array(classes);
  for (let target = 0; target < classes; target++)
    scores[target] = weights[width * classes + target] as number;
  addScores(vector, 0, size, weights, scores);
  return scores;
}
