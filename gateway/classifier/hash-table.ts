/** Open addressing: `keys` are hashes (0: an empty slot), `places` their places in the list the table was built from. */
export type HashTable = { keys: Uint32Array; places: Uint32Array };

/** Indexes distinct hashes other than 0. At most two of three slots are used. */
export function hashTableOf(hashes: ArrayLike<number>): HashTable {
  const size = 2 ** Math.ceil(Math.log2(Math.max(hashes.length, 8) * 1.5));
  const table = { keys: new Uint32Array(size), places: new Uint32Array(size) };
  for (let place = 0; place < hashes.length; place++) {
    const hash = hashes[place] ?? 0;
    let slot = hash & (size - 1);
    while (table.keys[slot] !== 0) slot = (slot + 1) & (size - 1);
    table.keys[slot] = hash;
    table.places[slot] = place;
  }
  return table;
}

/** The place of a hash; −1 if the table does not have it. */
export function positionOf({ keys, places }: HashTable, hash: number): number {
  const mask = keys.length - 1;
  let slot = hash & mask;
  while (keys[slot] !== hash) {
    if (keys[slot] === 0) return -1;
    slot = (slot + 1) & mask;
  }
  return places[slot] ?? -1;
}
