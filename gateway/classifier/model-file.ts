import { MODEL_FORMAT, type Model } from "./model.ts";
import { starterOf } from "./starter.ts";
import { columnsOf } from "./vocabulary.ts";

const KINDS = { Uint32Array, Int32Array, Float32Array, Float16Array };

type Stored = { kind: keyof typeof KINDS; base64: string };

const isStored = (value: unknown): value is Stored =>
  typeof value === "object" && value !== null && "base64" in value;

/** A value with typed arrays as bytes: JSON, the arrays in base64. The same value gives the same bytes. */
export function packed(value: object): Uint8Array {
  const text = JSON.stringify(value, (name, it) => {
    if (!ArrayBuffer.isView(it)) return it;
    // Training rounds weights to 16-bit floats.
    const array = name === "weights" ? Float16Array.from(it as Float32Array) : it;
    const base64 = Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");
    return { kind: array.constructor.name, base64 };
  });
  return new TextEncoder().encode(text);
}

/** What was packed. @throws Error if the bytes are damaged */
export const unpackedModel = (bytes: Uint8Array): unknown =>
  JSON.parse(new TextDecoder().decode(bytes), (_name, value: unknown) => {
    if (!isStored(value)) return value;
    const array = new KINDS[value.kind](new Uint8Array(Buffer.from(value.base64, "base64")).buffer);
    return array instanceof Float16Array ? Float32Array.from(array) : array;
  });

/** Reads a stored model. Null if the bytes are damaged or of another format: the caller trains again. */
export function deserialiseModel(bytes: Uint8Array): Model | null {
  try {
    // What is packed under this format is a model.
    const model = unpackedModel(bytes) as Model;
    if (model.format !== MODEL_FORMAT) return null;
    const columns = columnsOf(model.vocabulary) + 1;
    if (model.weights.length !== columns * model.classes.length) return null;
    return { ...model, starter: starterOf(model.starter) };
  } catch {
    return null;
  }
}
