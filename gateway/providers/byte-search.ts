/** An ASCII text to search for, encoded once: a string would be encoded on every search. */
export type Needle = Buffer;

export const needle = (text: string): Needle => Buffer.from(text, "latin1");

// Without a Buffer over the bytes, which costs more than the search of a short event.
const { indexOf } = Buffer.prototype;

/** Offset of the text at or after `from`; -1 if absent. */
export const indexOfBytes = (bytes: Uint8Array, text: Needle, from = 0): number =>
  indexOf.call(bytes, text, from);

/** Whether the bytes contain the text. Far cheaper than parsing them. */
export const includesBytes = (bytes: Uint8Array, text: Needle): boolean => indexOfBytes(bytes, text) !== -1;
