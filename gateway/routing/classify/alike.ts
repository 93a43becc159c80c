import type { Rows } from "./rows.ts";
import type { LinearModel, Problem } from "./softmax.ts";

/** Which columns stand for others, too. `leader[c]`: the first of the columns like c; `sizes[c]`: how many a leader leads. */
type Alike = { leader: Int32Array; sizes: Int32Array };

/** Two hashes of a column make one number that no other column is likely to have. */
const SECOND_BITS = 2 ** 21;

/** Finds columns that all rows have alike: the pieces of a word that no other word shares. */
function findAlike({ starts, ids, values, count, width }: Rows): Alike {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  const one = new Int32Array(width);
  const other = new Int32Array(width);
  for (let row = 0; row < count; row++) {
    const [first, second] = [Math.imul(row + 1, 0x9e3779b1), Math.imul(row + 1, 0x85ebca6b)];
    for (let at = starts[row] as number; at < (starts[row + 1] as number); at++) {
      const id = ids[at] as number;
      const value = bits[at] as number;
      one[id] = Math.imul((one[id] as number) ^ first ^ value, 0x01000193);
      const mixed = (other[id] as number) ^ second ^ Math.imul(value, 0xc2b2ae35);
      other[id] = Math.imul(mixed ^ (mixed >>> 15), 0x27d4eb2f);
    }
  }
  const leaders = new Map<number, number>();
  const leader = new Int32Array(width);
  const sizes = new Int32Array(width);
  for (let id = 0; id < width; id++) {
    const key = ((one[id] as number) >>> 0) * SECOND_BITS + ((other[id] as number) >>> 11);
    const known = leaders.get(key) ?? id;
    if (known === id) leaders.set(key, id);
    leader[id] = known;
    sizes[known] = (sizes[known] as number) + 1;
  }
  return { leader, sizes };
}

function mergedRows(rows: Rows, { leader, sizes }: Alike): { rows: Rows; place: Int32Array } {
  const place = new Int32Array(rows.width);
  let width = 0;
  for (let id = 0; id < rows.width; id++)
    place[id] = leader[id] === id ? width++ : (place[leader[id] as number] as number);
  const starts = new Int32Array(rows.count + 1);
  const ids = new Int32Array(rows.ids.length);
  const values = new Float32Array(rows.ids.length);
  let size = 0;
  for (let row = 0; row < rows.count; row++) {
    for (let at = rows.starts[row] as number; at < (rows.starts[row + 1] as number); at++) {
      const id = rows.ids[at] as number;
      if (leader[id] !== id) continue;
      ids[size] = place[id] as number;
      values[size] = (rows.values[at] as number) * Math.sqrt(sizes[id] as number);
      size++;
    }
    starts[row + 1] = size;
  }
  return {
    rows: { starts, ids: ids.slice(0, size), values: values.slice(0, size), count: rows.count, width },
    place,
  };
}

/**
 * Trains with columns that all rows have alike as one: every product of two rows stays the same, so the solution does, and
 * there is less to go through.
 */
export function trainMerged(problem: Problem, train: (problem: Problem) => LinearModel): LinearModel {
  const { width } = problem.rows;
  const { classes } = problem;
  const alike = findAlike(problem.rows);
  const { rows, place } = mergedRows(problem.rows, alike);
  const trials = mergedRows(problem.trials, alike).rows;
  const { weights: merged, held } = train({ ...problem, rows, trials });
  const weights = new Float32Array((width + 1) * classes);
  for (let id = 0; id <= width; id++) {
    const from = (id === width ? rows.width : (place[id] as number)) * classes;
    const share = id === width ? 1 : 1 / Math.sqrt(alike.sizes[alike.leader[id] as number] as number);
    for (let c = 0; c < classes; c++) weights[id * classes + c] = share * (merged[from + c] as number);
  }
  return { weights, held };
}
