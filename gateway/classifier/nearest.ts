import type { Decision } from "./decide.ts";
import type { Model } from "./model.ts";
import { dot, rowAt, type SparseVector, squaredLength } from "./sparse.ts";

/** An example that a text resembles. `similarity`: the cosine, to four digits. */
export type Nearest = { route: string; exampleId: string; similarity: number };

/** The example of the two leading routes that is most similar to a text; null if none has anything in common with it. */
export function nearestOf(model: Model, vector: SparseVector, { best, second }: Decision): Nearest | null {
  const { rows, classOf, ids } = model.nearest;
  const leading = new Set([model.classes[best]?.name, model.classes[second]?.name]);
  const dense = new Float32Array(rows.width);
  for (const [at, id] of vector.ids.entries()) dense[id] = vector.values[at] ?? 0;
  const length = Math.sqrt(squaredLength(vector));
  let nearest: Nearest | null = null;
  for (let row = 0; row < rows.count; row++) {
    const route = model.classes[classOf[row] ?? -1]?.name ?? "";
    if (!leading.has(route)) continue;
    const example = rowAt(rows, row);
    const cosine = dot(example, dense) / (Math.sqrt(squaredLength(example)) * length || 1);
    if (cosine > (nearest?.similarity ?? 0)) {
      nearest = { route, exampleId: ids[row] ?? "", similarity: Math.round(cosine * 1e4) / 1e4 };
    }
  }
  return nearest;
}
