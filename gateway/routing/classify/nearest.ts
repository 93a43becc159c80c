import type { Model } from "./model.ts";
import type { Rows, SparseVector } from "./rows.ts";
import type { Decision } from "./score.ts";

/** An example that a text resembles. `similarity`: the cosine, to four digits. */
export type Nearest = { route: string; exampleId: string; similarity: number };

/** What is kept of a model's examples: a place for the query's columns (zero outside of a call), and their squared lengths. */
type Kept = { dense: Float32Array; lengths: Float64Array };
const keptOf = new WeakMap<Model, Kept>();

const squareOf = (values: Float32Array, start: number, end: number): number => {
  let sum = 0;
  for (let at = start; at < end; at++) sum += (values[at] as number) * (values[at] as number);
  return sum;
};

function prepare(model: Model): Kept {
  const { starts, values, count, width } = model.nearest.rows;
  const lengths = Float64Array.from({ length: count }, (_, row) =>
    squareOf(values, starts[row] as number, starts[row + 1] as number),
  );
  const kept = { dense: new Float32Array(width + 1), lengths };
  keptOf.set(model, kept);
  return kept;
}

/** The product of one example with the query, as two sums side by side. */
function product({ starts, ids, values }: Rows, row: number, dense: Float32Array): number {
  const end = starts[row + 1] as number;
  let at = starts[row] as number;
  let sum = 0;
  let other = 0;
  for (; at + 1 < end; at += 2) {
    sum += (values[at] as number) * (dense[ids[at] as number] as number);
    other += (values[at + 1] as number) * (dense[ids[at + 1] as number] as number);
  }
  if (at < end) sum += (values[at] as number) * (dense[ids[at] as number] as number);
  return sum + other;
}

/** The classes of the two leading routes, as flags. */
function leading({ classes }: Model, { best, second }: Decision): Uint8Array {
  const names = [classes[best]?.name, classes[second]?.name];
  return Uint8Array.from(classes, ({ name }) => Number(names.includes(name)));
}

/** The example of the two leading routes that resembles a text most; null where none does at all. */
export function nearestOf(model: Model, { ids, values }: SparseVector, decision: Decision): Nearest | null {
  const { dense, lengths } = keptOf.get(model) ?? prepare(model);
  for (let at = 0; at < ids.length; at++) dense[ids[at] as number] = values[at] as number;
  const square = squareOf(values, 0, values.length);
  const { rows, classOf, ids: names } = model.nearest;
  const isLeading = leading(model, decision);
  let top = -1;
  let similarity = 0;
  for (let row = 0; row < rows.count; row++) {
    if (isLeading[classOf[row] as number] !== 1) continue;
    const cosine = product(rows, row, dense) / Math.sqrt((lengths[row] as number) * square || 1);
    if (cosine <= similarity) continue;
    top = row;
    similarity = cosine;
  }
  for (let at = 0; at < ids.length; at++) dense[ids[at] as number] = 0;
  if (top < 0) return null;
  const route = model.classes[classOf[top] as number]?.name ?? "";
  return { route, exampleId: names[top] ?? "", similarity: Math.round(similarity * 1e4) / 1e4 };
}
