import { MODEL_FORMAT, type Model } from "./model.ts";
import { shared } from "./starter.ts";
import { columnsOf } from "./vocabulary.ts";

/** The typed arrays of a model, by their path. Weights are stored as 16-bit floats: training rounds them to that. */
const ARRAYS = [
  ["starter.vocabulary.table.keys", Uint32Array],
  ["starter.vocabulary.table.places", Uint32Array],
  ["starter.vocabulary.idf", Float32Array],
  ["starter.weights", Float16Array],
  ["starter.held", Float32Array],
  ["vocabulary.table.keys", Uint32Array],
  ["vocabulary.table.places", Uint32Array],
  ["vocabulary.idf", Float32Array],
  ["weights", Float16Array],
  ["nearest.rows.starts", Int32Array],
  ["nearest.rows.ids", Int32Array],
  ["nearest.rows.values", Float32Array],
  ["nearest.classOf", Int32Array],
] as const;

type Tree = { [name: string]: unknown };
type Numbers = ArrayLike<number> & { buffer: ArrayBufferLike; byteOffset: number; byteLength: number };

const ALIGNMENT = 8;
const aligned = (length: number) => Math.ceil(length / ALIGNMENT) * ALIGNMENT;

function at(tree: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((node, name) => (node as Tree)[name], tree);
}

const lengthOf = (view: ArrayBufferView): number => (view as unknown as Numbers).length;

function put(tree: Tree, path: string, value: unknown): void {
  const names = path.split(".");
  const last = names.pop() ?? "";
  let node = tree;
  for (const name of names) node = node[name] as Tree;
  node[last] = value;
}

/** A model as bytes: a JSON header (its length first), then the arrays in the fixed order. The same model, the same bytes. */
export function serialiseModel(model: Model): Uint8Array {
  const arrays = ARRAYS.map(([path, Kind]) => Kind.from(at(model, path) as Numbers));
  // In place of an array, the header has its length.
  const header = JSON.stringify(model, (_name, value) =>
    ArrayBuffer.isView(value) ? lengthOf(value) : value,
  );
  const json = new TextEncoder().encode(header);
  const start = aligned(ALIGNMENT + json.length);
  const total = arrays.reduce((sum, array) => sum + aligned(array.byteLength), start);
  const bytes = new Uint8Array(total);
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, ALIGNMENT);
  let offset = start;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), offset);
    offset += aligned(array.byteLength);
  }
  return bytes;
}

/** Reads a stored model. Null if the bytes are damaged or of another format: the caller trains again. */
export function deserialiseModel(bytes: Uint8Array): Model | null {
  try {
    return read(bytes);
  } catch {
    return null;
  }
}

function read(bytes: Uint8Array): Model | null {
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true);
  const tree = JSON.parse(new TextDecoder().decode(bytes.subarray(ALIGNMENT, ALIGNMENT + length))) as Tree;
  if (tree["format"] !== MODEL_FORMAT) return null;
  let offset = aligned(ALIGNMENT + length);
  for (const [path, Kind] of ARRAYS) {
    const count = at(tree, path) as number;
    const size = count * Kind.BYTES_PER_ELEMENT;
    if (offset + size > bytes.length) return null;
    // Not `slice`: that of a Buffer copies nothing.
    const copy = new Uint8Array(bytes.subarray(offset, offset + size));
    const array = new Kind(copy.buffer, 0, count);
    const numbers = array instanceof Float16Array ? Float32Array.from(array) : array;
    put(tree, path, path.startsWith("starter.") ? shared(numbers) : numbers);
    offset += aligned(size);
  }
  const model = tree as unknown as Model;
  const columns = columnsOf(model.vocabulary) + 1;
  return model.weights.length === columns * model.classes.length ? model : null;
}
