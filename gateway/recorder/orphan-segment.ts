import { type MarkFile, missingFrom, openMark, readMark } from "./mark-file.ts";
import type { Source } from "./postgres-writer.ts";
import { DamagedSegment } from "./row-sum.ts";
import { OF_THE_DEAD, openSegment, type Segment, type SegmentOptions, type Settlement } from "./segment.ts";

/** The segment of a process that died. Calls that it never ended follow its settlements, as their intents hold them. */
export type OrphanSegment = Pick<
  Segment,
  "parkedRows" | "parkedCount" | "usedBytes" | "close" | "destroy"
> & { source: Source };

type OrphanOptions = Pick<SegmentOptions, "path"> & { now: () => number };

/** Opens a segment whose lock (`takeLock`) is held. @throws SQLite's error; `DamagedSegment` if rows are missing. */
export function openOrphanSegment({ path, now }: OrphanOptions): OrphanSegment {
  const segment = openSegment({ ...OF_THE_DEAD, path, create: false });
  try {
    checkAgainstMark(segment, path);
    const mark = openMark(path);
    const close = () => {
      mark.close();
      segment.close();
    };
    const destroy = () => {
      mark.close();
      return segment.destroy();
    };
    return { ...segment, source: orphanSource(segment, mark, now), close, destroy };
  } catch (error) {
    segment.close();
    throw error;
  }
}

function checkAgainstMark(segment: Segment, path: string): void {
  const mark = readMark(path);
  if (mark === null) return;
  const { first, last } = segment.settlementRange();
  const found = { settlements: last === 0 ? 0 : last - first + 1, last, intents: segment.intentCount() };
  const { settlements, intents } = missingFrom(mark, found);
  if (settlements + intents > 0) throw new DamagedSegment(`${settlements + intents} records are missing`);
}

/** Reads the segment in order, and deletes what Postgres has. Intents are numbered on from the last settlement. */
export function orphanSource(segment: Segment, mark: Pick<MarkFile, "write">, now: () => number): Source {
  const { first, last } = segment.settlementRange();
  const openedAt = now();
  let sent = Math.max(0, first - 1);
  let intents = segment.intentCount();

  const toIntent = (seq: number) => Math.max(0, seq - last);
  const interrupted = (rowsMax: number): Settlement[] =>
    segment.intentsAfter(toIntent(sent), rowsMax).map(({ seq, text }) => ({ seq: last + seq, text }));

  /** A segment that accepts no writes is still read to its end; rows sent twice are stored once. */
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
        // Before the rows go: a mark that is behind would make them look lost.
        mark.write({
          settled: last,
          sent: Math.min(sent, last),
          running: intents,
          firstRunning: toIntent(sent) + 1,
        });
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
