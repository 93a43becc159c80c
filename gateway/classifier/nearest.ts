import type { Decision } from "./decide.ts";
import type { Model } from "./model.ts";
import { rowDot, type SparseVector, squaredLength } from "./sparse.ts";

/** An example that a text resembles. `similarity`: the cosine, to four digits. */
export type Nearest = { route: string; exampleId: string; similarity: number };

/** The example of the two leading routes that is most similar to a text; null if none has anything in common with it. */
export function nearestOf(model: Model, vector: SparseVector, { best, second }: Decision): Nearest | null {
  const { rows, classOf, ids } = model.nearest;
  const leading = new Set([model.classes[best]?.name, model.classes[second]?.name]);
  const isLeading = model.classes.map(({ name }) => leading.has(name));
  const dense = new Float32Array(rows.width);
  for (let at = 0; at < vector.ids.length; at++) dense[vector.ids[at] ?? 0] = vector.values[at] ?? 0;
  let nearest = -1;
  let product = 0;
  for (let row = 0; row < rows.count; row++) {
    if (!isLeading[classOf[row] ?? -1]) continue;
    const found = rowDot(rows, row, dense);
    if (found > product) [nearest, product] = [row, found];
  }
  if (nearest < 0) return null;
  const cosine = product / Math.sqrt(squaredLength(vector));
  return {
    route: model.classes[classOf[nearest] ?? -1]?.name ?? "",
    exampleId: ids[nearest] ?? "",
    similarity: Math.round(cosine * 1e4) / 1e4,
  };
}
