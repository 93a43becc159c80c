import type { Reading } from "../reading.ts";
import { compressedMeter } from "./compressed.ts";
import { jsonOutline } from "./json-outline.ts";
import { type Meter, UNWATCHED } from "./meter.ts";

/** White space after the end of the JSON is withheld up to this size. */
const WITHHELD_BYTES_MAX = 1024 * 1024;

/**
 * The meter of an answer that is no stream of events, passed on as it arrives. Its usage is read at the end from an
 * outline of its JSON. The last chunk is withheld until the body has ended, together with the chunk in which the JSON
 * ends if only white space follows: so a client cannot have the whole answer before its record is stored.
 */
export function plainMeter(readAnswer: (outline: Uint8Array) => Reading, encoding: string | null): Meter {
  const outline = jsonOutline();
  // The time to the first token is that of streams.
  const outlining: Meter = {
    ...UNWATCHED,
    watch(chunk) {
      outline.push(chunk);
      return chunk;
    },
    allSeen: () => outline.closed(),
    reading: () => readAnswer(outline.bytes()),
  };
  const meter = encoding === null ? outlining : compressedMeter(outlining, encoding);
  let withheld: Uint8Array[] = [];
  let size = 0;

  const taken = (): Uint8Array | null => {
    const [first = null] = withheld;
    const bytes = withheld.length > 1 ? Buffer.concat(withheld) : first;
    withheld = [];
    size = 0;
    return bytes;
  };

  return {
    ...meter,
    watch(chunk) {
      const hadEnded = outline.closed();
      meter.watch(chunk);
      const isBlank = hadEnded && outline.closed() && size < WITHHELD_BYTES_MAX;
      const earlier = isBlank ? null : taken();
      withheld.push(chunk);
      size += chunk.byteLength;
      return earlier;
    },
    rest() {
      meter.rest();
      return taken();
    },
  };
}
