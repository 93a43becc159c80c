/**
 * A Map that lives long keeps what passed through it until a full garbage collection (upstream/watchdog.ts): it is made
 * anew after so many calls.
 */
const RENEWED_EVERY = 512;

/** Where the intent of a call that runs lies. */
type Place = { running: number; endsSeq?: number };

/** Which calls run, and how many of each place. */
export function runningCalls() {
  let placeOf = new Map<string, Place>();
  let ended = 0;
  return {
    begin(id: string, place: Place): void {
      const before = placeOf.get(id);
      if (before) before.running -= 1;
      place.running += 1;
      placeOf.set(id, place);
    },
    /** `through`: number of the newest row by then, of which the call's end is one if it has one. */
    end(id: string, through = 0): void {
      const place = placeOf.get(id);
      if (place === undefined) return;
      if (place.endsSeq !== undefined) place.endsSeq = Math.max(place.endsSeq, through);
      place.running -= 1;
      placeOf.delete(id);
      ended += 1;
      if (ended % RENEWED_EVERY === 0) placeOf = new Map(placeOf);
    },
    isAt: (id: string, place: Place) => placeOf.get(id) === place,
    count: () => placeOf.size,
  };
}
