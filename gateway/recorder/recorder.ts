import type { RequestRow } from "#drizzle/schema/records.ts";
import type { Ambient, Clock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { GatewayError } from "../errors.ts";
import type { Order } from "../stores/limits/rounds.ts";
import { openRecordStore } from "../stores/records.ts";
import {
  observationText,
  type SessionEnd,
  sessionEndText,
  type ToolObservation,
} from "../stores/tools/tool-calls.ts";
import { type CommitLog, startCommitLog } from "./commit-log.ts";
import { flushedBy } from "./flushed-by.ts";
import { movableFlusher } from "./flusher.ts";
import { createLastingSegment } from "./lasting-segment.ts";
import { adoptEvery, createOrphans } from "./orphans.ts";
import type { OwnSegment } from "./own-segment.ts";
import { type Source, startPostgresWriter } from "./postgres-writer.ts";
import { createRecoveries, type DamageTotals } from "./recovery/recoveries.ts";

export type Recorder = {
  /**
   * Records that a call is about to be sent to a provider. Durable before it resolves (survives kill -9). Rejects with
   * `GatewayError("cannot_record")` when the spool is full or failing. `row` is complete but for its ending: exactly
   * what is stored if nothing more is heard of the call.
   */
  open(row: RequestRow): Promise<void>;
  /**
   * Records the final row of a call, opened or not. Durable before it resolves. Never rejects: space is reserved for
   * it, and a row that the disk refuses is held in memory, for Postgres or for the disk's return, while the promise
   * resolves after 2 s at the latest. The first settlement of an id wins.
   */
  settle(row: RequestRow): Promise<void>;
  /** `open` and `settle` for a tool call; a settled sighting is merged with what others see of the call. */
  openTool(sighting: ToolObservation): Promise<void>;
  settleTool(sighting: ToolObservation): Promise<void>;
  /** Durable before it resolves, like `settle`. */
  endSession(end: SessionEnd): Promise<void>;
  /** False when nothing can be recorded: readiness. */
  accepting(): boolean;
  stats(): RecorderStats;
  /** Resolves once all settled is in Postgres or parked; rejects after `timeoutMs`. `hurry` forces a flush. */
  flushed(timeoutMs: number, hurry?: boolean): Promise<void>;
  /** Refuses new calls, writes what it can within `timeoutMs`, and leaves the rest in the spool. */
  close(timeoutMs: number): Promise<void>;
};

type RecorderStats = {
  /** Settlements that are not yet in Postgres. */
  backlog: number;
  /** Rows that Postgres refused for their data, kept in the spool. */
  parked: number;
  bytes: number;
  oldestMs: number | null;
  /** Why rows do not reach Postgres; null: they do, or it is not known. */
  cause: string | null;
  /** Calls opened and not yet settled. */
  open: number;
  /** Results of recovering damaged spool files since the start. */
  damage: DamageTotals;
};

export type RecorderOptions = Ambient & {
  /** Used by gateways only, on a local file system; several processes may share it. */
  directory: string;
  databaseUrl: string;
  /** `SPOOL_SYNC`: "full" waits for the disk at every record, "normal" syncs every 100 ms. */
  sync: "normal" | "full";
  bytesMax: number;
  order?: Order;
};

/** Calls that a stop has cut off end within a moment: how often to look whether they have, and after which time each. */
const CUT_OFF_LOOKS = 50;
const CUT_OFF_MS = 20;

/** Extra time for a batch in flight, beyond the time for writing the rest. */
const LAST_BATCH_MS = 1000;

/** Starts recording into a new segment in `directory`, and adopts the segments of processes that died. */
export async function startRecorder(options: RecorderOptions): Promise<Recorder> {
  const { log, clock } = options;
  const parts = startParts(options);
  const { commits } = parts;
  let closed: Promise<void> | null = null;
  let over = false;

  function open(id: string, text: string): Promise<void> {
    if (!commits.accepting()) return Promise.reject(new GatewayError("cannot_record"));
    return commits.append({ kind: "intent", id, text });
  }

  function settle(id: string, text: string): Promise<void> {
    if (over) {
      log.error({ id }, "a call ended after its recorder was closed");
      return Promise.resolve();
    }
    return commits.append({ kind: "settlement", id, text, at: clock.now().getTime() });
  }

  async function close(timeoutMs: number): Promise<void> {
    commits.refuse();
    for (let looks = 0; parts.segment.running() > 0 && looks < CUT_OFF_LOOKS; looks++)
      await Bun.sleep(CUT_OFF_MS);
    await parts.drain(timeoutMs);
    over = true;
    await parts.stop();
  }

  return {
    open: (row) => open(row.id, JSON.stringify(row)),
    settle: (row) => settle(row.id, JSON.stringify(row)),
    openTool: (sighting) => open(sighting.id, observationText(sighting)),
    settleTool: (sighting) => settle(sighting.id, observationText(sighting)),
    endSession: (end) => settle(newId(), sessionEndText(end)),
    accepting: commits.accepting,
    stats: () => statsOf(parts),
    flushed: parts.flushed,
    close: (timeoutMs) => {
      closed ??= close(timeoutMs);
      return closed;
    },
  };
}

/** Starts the parts and joins them: the commit log wakes the writer, which empties the sources. */
function startParts(options: RecorderOptions) {
  const { log, clock } = options;
  const late = { wake: (_rows: number) => {}, adopt: () => {} };
  const recoveries = createRecoveries({
    log,
    clock,
    onRecovered(intents) {
      const running = intents.filter(({ id }) => segment.isRunning(id));
      for (const { id, text } of running) commits.append({ kind: "intent", id, text }).catch(() => undefined);
      late.adopt();
    },
  });
  const segment = createLastingSegment({
    ...options,
    onAbandoned: (left, why) => void flusher.moveTo(segment.path).then(() => recoveries.start(left, why)),
  });
  const commits = startCommitLog({ ...options, segment, onSettled: (rows) => late.wake(rows) });
  const flusher = movableFlusher(segment.path, { log, onFailing: commits.syncFailing });
  const orphans = createOrphans({
    ...options,
    recoveries,
    keepParked: (row) => commits.append({ kind: "park", ...row }),
  });
  const own = ownSource(segment, commits, clock);
  const sources = (): Source[] => [own, commits.unwritten, ...orphans.sources()];
  const store = openRecordStore(options.databaseUrl);
  const writer = startPostgresWriter({ ...options, store, sources });
  late.wake = writer.wake;
  const adopting = adoptEvery(orphans, writer.wake, log);
  late.adopt = adopting.adopt;
  const flushed = flushedBy({ sources, commits, writer, clock });

  return {
    segment,
    commits,
    orphans,
    recoveries,
    sources,
    clock,
    flushed,
    writer,
    /** Writes to Postgres what it takes within `timeoutMs`. */
    async drain(timeoutMs: number): Promise<void> {
      adopting.stop();
      await flushed(timeoutMs).catch(() =>
        log.warn({ rows: backlogOf(sources()) }, "records stay in the spool"),
      );
      await writer.stop(LAST_BATCH_MS);
      await commits.appended();
    },
    async stop(): Promise<void> {
      commits.stop();
      await flusher.stop();
      recoveries.close();
      await orphans.tidy();
      orphans.close();
      await segment.leave();
    },
  };
}

const ownSource = (segment: OwnSegment, commits: CommitLog, clock: Clock): Source => ({
  ...segment.pending,
  park: ({ text }, code) => void commits.append({ kind: "park", text, code, at: clock.now().getTime() }),
});

const backlogOf = (sources: readonly Source[]) => sources.reduce((sum, source) => sum + source.backlog(), 0);

type Parts = Pick<
  ReturnType<typeof startParts>,
  "sources" | "segment" | "commits" | "orphans" | "recoveries" | "clock" | "writer"
>;

function statsOf({ sources, segment, commits, orphans, recoveries, clock, writer }: Parts): RecorderStats {
  const all = sources();
  const settledAt = all.map((source) => source.oldestAt()).filter((at) => at !== null);
  const nowMs = clock.now().getTime();
  return {
    backlog: backlogOf(all),
    parked: segment.parkedCount() + orphans.parked(),
    bytes: commits.usedBytes() + orphans.usedBytes(),
    oldestMs: settledAt.length === 0 ? null : Math.max(0, nowMs - Math.min(...settledAt)),
    cause: writer.cause(),
    open: segment.running(),
    damage: recoveries.totals(),
  };
}
