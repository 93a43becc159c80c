/**
 * An open-addressing table of features, three numbers a slot, so that one look into memory finds all of them: the hash
 * (0: an empty slot), the column, and how common the feature is (1: one text alone had it).
 */
export type Slots = Uint32Array;

const NUMBERS = 3;
/** At most two slots of three are taken: fuller tables take longer, emptier ones miss the processor's cache. */
const ROOM = 1.5;

const slotsFor = (entries: number): number => 2 ** Math.ceil(Math.log2(Math.max(entries, 8) * ROOM));

/** Of a table, what `slotOf` needs to find a hash's place. */
export const maskOf = (slots: Slots): number => slots.length / NUMBERS - 1;

/** Where a feature's column and how common it is stand: at this place and after it. −1 where it is unknown. */
export function slotOf(slots: Slots, mask: number, hash: number): number {
  let slot = hash & mask;
  for (;;) {
    const key = slots[slot * NUMBERS] as number;
    if (key === hash) return slot * NUMBERS + 1;
    if (key === 0) return -1;
    slot = (slot + 1) & mask;
  }
}

/**
 * Reads the key of the slot where each hash would stand, for all of them before any is used: memory then fetches them
 * side by side. Looked up one after the other, each would wait for the last.
 */
export function readKeys(slots: Slots, mask: number, hashes: Uint32Array, keys: Uint32Array): void {
  for (let at = 0; at < hashes.length; at++) {
    keys[at] = slots[((hashes[at] as number) & mask) * NUMBERS] as number;
  }
}

/** Distinct hashes in the order of first sight, and how many lists and groups of lists each is in. No list has a hash twice. */
export type Counted = { hashes: Uint32Array; counts: Uint32Array; groups: Uint32Array };

/** A table of places in lists of hashes that grow: slot by slot the place plus 1, or 0. */
function placesOf({ hashes }: Pick<Counted, "hashes">, known: number, size: number): Uint32Array {
  const places = new Uint32Array(size);
  for (let place = 0; place < known; place++) {
    let slot = (hashes[place] as number) & (size - 1);
    while (places[slot] !== 0) slot = (slot + 1) & (size - 1);
    places[slot] = place + 1;
  }
  return places;
}

function grown(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(numbers.length * 2);
  more.set(numbers);
  return more;
}

/** Counts one more list at a place. `latest`: the last group that each place was seen in. */
function countAgain(found: Counted & { latest: Uint32Array }, place: number, group: number): void {
  found.counts[place] = (found.counts[place] as number) + 1;
  if (found.latest[place] === group) return;
  found.latest[place] = group;
  found.groups[place] = (found.groups[place] as number) + 1;
}

/**
 * Counts in how many lists each hash is, and in how many groups. `groupOf[l]` is list l's; a group's lists follow each
 * other.
 */
export function counted(lists: readonly Uint32Array[], groupOf: ArrayLike<number> = []): Counted {
  const numbers = () => new Uint32Array(1 << 14);
  const found = { hashes: numbers(), counts: numbers(), groups: numbers(), latest: numbers() };
  let known = 0;
  let places = placesOf(found, known, found.hashes.length * 2);
  for (const [order, list] of lists.entries()) {
    const group = groupOf[order] ?? 0;
    for (let at = 0; at < list.length; at++) {
      const hash = list[at] as number;
      let slot = hash & (places.length - 1);
      let place = places[slot] as number;
      while (place !== 0 && found.hashes[place - 1] !== hash) {
        slot = (slot + 1) & (places.length - 1);
        place = places[slot] as number;
      }
      if (place !== 0) {
        countAgain(found, place - 1, group);
        continue;
      }
      found.hashes[known] = hash;
      found.counts[known] = 1;
      found.groups[known] = 1;
      found.latest[known] = group;
      known++;
      places[slot] = known;
      if (known < found.hashes.length) continue;
      found.hashes = grown(found.hashes);
      found.counts = grown(found.counts);
      found.groups = grown(found.groups);
      found.latest = grown(found.latest);
      places = placesOf(found, known, found.hashes.length * 2);
    }
  }
  const { hashes, counts, groups } = found;
  return {
    hashes: hashes.subarray(0, known),
    counts: counts.subarray(0, known),
    groups: groups.subarray(0, known),
  };
}

/**
 * A table of those in at least `seenMin` lists, each with a column of its own in the order of first sight. `commonOf`
 * makes the number of how common one is of its numbers of lists and groups.
 */
export function slotsOf(
  { hashes, counts, groups }: Counted,
  seenMin: number,
  commonOf: (count: number, groups: number) => number,
): { slots: Slots; width: number } {
  let kept = 0;
  for (let at = 0; at < counts.length; at++) if ((counts[at] as number) >= seenMin) kept++;
  const slots = new Uint32Array(slotsFor(kept) * NUMBERS);
  const mask = maskOf(slots);
  let column = 0;
  for (let at = 0; at < hashes.length; at++) {
    if ((counts[at] as number) < seenMin) continue;
    const hash = hashes[at] as number;
    let slot = hash & mask;
    while (slots[slot * NUMBERS] !== 0) slot = (slot + 1) & mask;
    slots.set([hash, column, commonOf(counts[at] as number, groups[at] as number)], slot * NUMBERS);
    column++;
  }
  return { slots, width: kept };
}
