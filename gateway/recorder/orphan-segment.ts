import type { Source } from "./postgres-writer.ts";
import { openSegment, type Segment, type SegmentOptions, type Settlement } from "./segment.ts";

/** The segment of a process that died. Calls that it never ended follow its settlements, as their intents hold them. */
export type OrphanSegment = Pick<
  Segment,
  "parkedRows" | "parkedCount" | "usedBytes" | "close" | "destroy"
> & { source: Source };

type OrphanOptions = Pick<SegmentOptions, "path"> & { now: () => number };

/** The cap limits what a process writes: a full segment must still be readable after its death. */
const NO_CAP_BYTES = 2 ** 40;
/** No flush worker serves this file. */
const CHECKPOINT_PAGES = 1000;

/** Opens the segment. The caller holds its lock (segment-lock.ts). */
export function openOrphanSegment({ path, now }: OrphanOptions): OrphanSegment {
  const segment = openSegment({
    path,
    sync: "normal",
    bytesMax: NO_CAP_BYTES,
    checkpointPages: CHECKPOINT_PAGES,
    create: false,
  });
  try {
    return { ...segment, source: orphanSource(segment, now) };
  } catch (error) {
    segment.close();
    throw error;
  }
}

/** Reads the segment in order, and deletes what Postgres has. Intents are numbered on from the last settlement. */
function orphanSource(segment: Segment, now: () => number): Source {
  const { first, last } = segment.settlementRange();
  const openedAt = now();
  let sent = Math.max(0, first - 1);
  let intents = segment.intentCount();

  const toIntent = (seq: number) => Math.max(0, seq - last);
  const interrupted = (rowsMax: number): Settlement[] =>
    segment.intentsAfter(toIntent(sent), rowsMax).map(({ seq, text }) => ({ seq: last + seq, text }));

  /** A segment that takes no more writes is still read to its end; what is sent twice is stored once. */
  function tryWrite(work: () => void): void {
    try {
      segment.transaction(work);
    } catch {
      // The next owner of the segment starts from here.
    }
  }

  return {
    take(rowsMax) {
      const settled = segment.settlementsAfter(sent, rowsMax);
      return settled.length === rowsMax ? settled : settled.concat(interrupted(rowsMax - settled.length));
    },
    drop(rows) {
      sent = rows.at(-1)?.seq ?? sent;
      intents -= rows.filter(({ seq }) => seq > last).length;
      tryWrite(() => {
        segment.removeSettlements(Math.min(sent, last));
        segment.removeIntents(toIntent(sent));
      });
    },
    park: ({ text }, code) => tryWrite(() => segment.park({ text, code, at: now() })),
    mark() {
      return () => this.backlog() === 0;
    },
    oldestAt: () => segment.settledAtAfter(sent) ?? (intents > 0 ? openedAt : null),
    backlog: () => Math.max(0, last - sent) + intents,
  };
}
