/** A small generator with a fixed seed (mulberry32), so that the same input trains a byte-identical model. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Shuffles the first `length` entries in place. */
export function shuffle(entries: Int32Array, length: number, random: () => number): void {
  for (let at = length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    const kept = entries[at] ?? 0;
    entries[at] = entries[other] ?? 0;
    entries[other] = kept;
  }
}
