import { pause } from "#shared/backoff.ts";
import type { Log } from "#shared/log.ts";
import { REPLACED_SIGNAL } from "#shared/stop-signal.ts";
import type { Beginning, ChildProcess, ChildProgram } from "./child-process.ts";

export type ChildSpec = ChildProgram & {
  name: string;
  log: Log;
  /** How many processes share its work. */
  processes: number;
};

/** What one process at a time is in. */
export type ChildPlace = { current: ChildProcess };

export type State = {
  spec: ChildSpec;
  begin(beginning: Beginning): ChildProcess;
  all: ReadonlySet<ChildProcess>;
  stopping: AbortSignal;
  /** The others are filled once the process of the first one serves. */
  places: ChildPlace[];
  /** Successors that are not ready yet may still take the present ones' places. */
  replacing: Promise<boolean> | null;
};

/** Longer than any start that will still succeed: a migration may take minutes. */
const SUCCESSOR_MS = 600_000;

/**
 * Gives each process a successor. They take calls only when all could, so that one that cannot start changes nothing; the
 * present ones drain only when all do.
 */
export async function replaceAll({ spec, begin, places, stopping }: State): Promise<boolean> {
  const pairs = places.map((place) => ({ place, successor: begin("takes over") }));
  const successors = pairs.map(({ successor }) => successor);
  const isPrepared = await allReach("prepared", successors);
  if (isPrepared) for (const successor of successors) successor.proceed();
  const areReady = isPrepared && (await allReach("ready", successors));
  if (stopping.aborted) return false;
  if (!areReady) {
    spec.log.error({ process: spec.name }, "the successor did not become ready; the present process goes on");
    for (const successor of successors) successor.kill(isPrepared ? "SIGTERM" : "SIGKILL");
    return false;
  }
  for (const { place, successor } of pairs) {
    spec.log.info(
      { process: spec.name, pid: successor.pid, replaced: place.current.pid },
      "process replaced",
    );
    place.current.kill(REPLACED_SIGNAL);
    place.current = successor;
  }
  return true;
}

/** Whether all get there; false as soon as one of them ends, or at the time limit. */
async function allReach(stage: "prepared" | "ready", successors: readonly ChildProcess[]): Promise<boolean> {
  const waited = new AbortController();
  const reached = await Promise.race([
    Promise.all(successors.map((successor) => successor[stage])).then(() => true),
    ...successors.map(({ exited }) => exited.then(() => false)),
    pause(SUCCESSOR_MS, waited.signal).then(() => false),
  ]);
  waited.abort();
  return reached;
}
