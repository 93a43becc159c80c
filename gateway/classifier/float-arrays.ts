/** Rounds to 16-bit floats, so that a model is the same before and after it was stored. */
export const roundedToHalf = (values: Float32Array): Float32Array =>
  Float32Array.from(Float16Array.from(values));

/**
 * The same numbers in memory that threads share. The starter goes to every training thread: copying its megabytes would
 * stop the thread that answers calls.
 */
export function shared<T extends Uint32Array | Int32Array | Float32Array>(array: T): T {
  // Both constructors take a shared buffer, and an array's constructor makes arrays of its own type.
  const TypedArray = array.constructor as new (buffer: SharedArrayBuffer) => T;
  const copy = new TypedArray(new SharedArrayBuffer(array.byteLength));
  copy.set(array);
  return copy;
}
