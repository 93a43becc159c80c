import { pause, restartDelayMs } from "#shared/backoff.ts";
import { CONFIGURATION_EXIT_CODE } from "#shared/env.ts";
import type { Log } from "#shared/log.ts";
import { REPLACED_SIGNAL } from "#shared/stop-signal.ts";
import { type Beginning, type ChildProcess, type ChildProgram, startChildProcess } from "./child-process.ts";

type ChildSpec = ChildProgram & {
  name: string;
  log: Log;
  /** How many processes share its work. */
  processes: number;
};

/** What one process at a time is in. */
type ChildPlace = { current: ChildProcess };

type State = {
  spec: ChildSpec;
  begin(beginning: Beginning): ChildProcess;
  all: ReadonlySet<ChildProcess>;
  stopping: AbortSignal;
  /** The others are filled once the process of the first one serves. */
  places: ChildPlace[];
  /** Successors that are not ready yet may still take the present ones' places. */
  replacing: Promise<boolean> | null;
};

type End = "stopped" | "misconfigured";

export type Child = {
  /** Resolves when all its processes are gone for good: stopped on request, or because their settings are wrong. */
  ended: Promise<End>;
  /** All that run: the present ones, successors that are not ready yet, and predecessors that drain. */
  processes(): readonly ChildProcess[];
  /** Starts successors; once all are ready, the present processes drain. False: one was not, and nothing changed. */
  replace(): Promise<boolean>;
  /** Forwards a signal; from then on no process is restarted. */
  stop(signal: NodeJS.Signals): void;
};

/**
 * Runs a script of ours as one child process or several, and restarts each that exits unexpectedly. They share our output.
 * Their standard input is a pipe that carries nothing: it closes when we end, however we end, which tells them to stop.
 */
export function keepChild(spec: ChildSpec): Child {
  const stopping = new AbortController();
  const all = new Set<ChildProcess>();
  const serving = Promise.withResolvers<true>();
  const begin = (beginning: Beginning): ChildProcess => {
    const started = startChildProcess(spec, beginning);
    all.add(started);
    void started.prepared.then(serving.resolve);
    void started.exited.then(() => all.delete(started));
    return started;
  };
  const state: State = { spec, begin, all, stopping: stopping.signal, places: [], replacing: null };
  const stop = (signal: NodeJS.Signals) => {
    stopping.abort();
    for (const child of all) child.kill(signal);
  };
  const gone = async () => {
    const others = Array.from({ length: spec.processes - 1 }, () => serving.promise.then(() => keep(state)));
    const end = await Promise.race([keep(state), ...others]);
    if (end === "misconfigured") stop("SIGTERM");
    await Promise.all([...all].map(({ exited }) => exited));
    return end;
  };
  return {
    ended: gone(),
    processes: () => [...all],
    replace() {
      state.replacing ??= replaceAll(state).finally(() => {
        state.replacing = null;
      });
      return state.replacing;
    },
    stop,
  };
}

/** Starts a process, and restarts it whenever it ends, until it shall not run any more. */
async function keep(state: State): Promise<End> {
  if (state.stopping.aborted) return "stopped";
  const place = { current: beginOne(state) };
  state.places.push(place);
  let delayMs = 0;
  for (;;) {
    const watched = place.current;
    const exitCode = await watched.exited;
    await (watched === place.current ? state.replacing : null);
    if (watched !== place.current) continue;
    if (exitCode === CONFIGURATION_EXIT_CODE) return "misconfigured";
    delayMs = restartDelayMs(delayMs, watched.isReady());
    if (!(await restart(state, place, { exitCode, delayMs }))) return "stopped";
  }
}

const beginOne = ({ all, begin }: State): ChildProcess =>
  begin([...all].some((it) => it.isPrepared()) ? "joins" : "alone");

type Facts = { exitCode: number; delayMs: number };

/** False if the process is to stop instead. */
async function restart(state: State, place: ChildPlace, facts: Facts): Promise<boolean> {
  const { spec, stopping } = state;
  const { current } = place;
  if (stopping.aborted) return false;
  spec.log.error({ process: spec.name, ...facts }, "process ended; restarting it");
  await pause(facts.delayMs, stopping);
  await state.replacing;
  if (stopping.aborted) return false;
  if (place.current !== current) return true;
  const started = beginOne(state);
  place.current = started;
  void started.ready.then(() =>
    spec.log.info({ process: spec.name, pid: started.pid }, "process is ready again"),
  );
  return true;
}

/** Longer than any start that will still succeed: a migration may take minutes. */
const SUCCESSOR_MS = 600_000;

/** Gives each process a successor. They take calls, and the present ones drain, only when all could. */
async function replaceAll({ spec, begin, places, stopping }: State): Promise<boolean> {
  const pairs = places.map((place) => ({ place, successor: begin("takes over") }));
  const successors = pairs.map(({ successor }) => successor);
  const isPrepared = await allReach("prepared", successors);
  if (isPrepared) for (const successor of successors) successor.proceed();
  const areReady = isPrepared && (await allReach("ready", successors));
  if (stopping.aborted) return false;
  if (!areReady) {
    spec.log.error({ process: spec.name }, "the new process did not become ready; the old one keeps running");
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
