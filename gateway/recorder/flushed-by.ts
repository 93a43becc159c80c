import type { Clock } from "#shared/clock.ts";
import type { CommitLog } from "./commit-log.ts";
import type { PostgresWriter, Source } from "./postgres-writer.ts";

type Flushed = (timeoutMs: number, hurry?: boolean) => Promise<void>;

type FlushParts = {
  sources: () => readonly Source[];
  commits: CommitLog;
  writer: PostgresWriter;
  clock: Clock;
};

/** Resolves when everything settled so far is in Postgres or parked; rejects after `timeoutMs`. */
export function flushedBy({ sources, commits, writer, clock }: FlushParts): Flushed {
  return async (timeoutMs, hurry = true) => {
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    const drained = async () => {
      const marks = sources().map((source) => source.mark());
      while (!marks.every((isReached) => isReached())) {
        const leftMs = deadlineMs - clock.monotonicMs();
        if (leftMs <= 0) throw new Error("records have not all reached Postgres");
        const pass = writer.pass(leftMs);
        if (hurry) writer.hurry();
        await pass;
      }
    };
    await commits.appended();
    const hadUnwritten = commits.unwritten.backlog() > 0;
    await drained();
    // Rows held in memory may have moved to the segment meanwhile.
    if (hadUnwritten) await drained();
  };
}
