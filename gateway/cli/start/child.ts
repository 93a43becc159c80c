import { pause, restartDelayMs } from "#shared/backoff.ts";
import { CONFIGURATION_EXIT_CODE } from "#shared/env.ts";
import type { Log } from "#shared/log.ts";
import { REPLACED_SIGNAL } from "#shared/stop-signal.ts";
import { type ChildProcess, type ChildProgram, startChildProcess } from "./child-process.ts";

export type ChildSpec = ChildProgram & { name: string; log: Log };

type End = "stopped" | "misconfigured";

export type Child = {
  /** Resolves when the process is gone for good: stopped on request, or because its settings are wrong. */
  ended: Promise<End>;
  running(): boolean;
  /**
   * Starts a successor and, once that is ready, lets the present process drain. If it does not become ready, the present
   * one goes on. Resolves with whether it was replaced.
   */
  replace(): Promise<boolean>;
  /** Forwards a signal; from then on the process is not restarted. */
  stop(signal: NodeJS.Signals): void;
};

/** Longer than any start that will still succeed: a migration may take minutes. */
const SUCCESSOR_MS = 600_000;

/**
 * Runs a script of ours as a child process and restarts it whenever it exits unexpectedly. It shares our output. Its
 * standard input is a pipe that carries nothing: it closes when we end, however we end, which tells the child to stop.
 */
export function keepChild(spec: ChildSpec): Child {
  const stopping = new AbortController();
  /** All that run: the present one, a successor that is not ready yet, and predecessors that drain. */
  const all = new Set<ChildProcess>();
  const begin = (takesOver: boolean): ChildProcess => {
    const started = startChildProcess(spec, takesOver);
    all.add(started);
    void started.exited.then(() => all.delete(started));
    return started;
  };
  const state: State = { spec, begin, stopping: stopping.signal, current: begin(false), replacing: null };
  const gone = async () => {
    const end = await keepAlive(state);
    await Promise.all([...all].map(({ exited }) => exited));
    return end;
  };
  return {
    ended: gone(),
    running: () => all.size > 0,
    replace() {
      state.replacing ??= replace(state).finally(() => {
        state.replacing = null;
      });
      return state.replacing;
    },
    stop(signal) {
      stopping.abort();
      for (const child of all) child.kill(signal);
    },
  };
}

type State = {
  spec: ChildSpec;
  begin(takesOver: boolean): ChildProcess;
  stopping: AbortSignal;
  current: ChildProcess;
  /** A successor that is not ready yet may still take the present one's place. */
  replacing: Promise<boolean> | null;
};

/** Restarts the present process whenever it ends, until it shall not run any more. */
async function keepAlive(state: State): Promise<End> {
  let delayMs = 0;
  for (;;) {
    const watched = state.current;
    const exitCode = await watched.exited;
    await (watched === state.current ? state.replacing : null);
    if (watched !== state.current) continue;
    if (exitCode === CONFIGURATION_EXIT_CODE) return "misconfigured";
    delayMs = restartDelayMs(delayMs, watched.isReady());
    if (!(await restart(state, { exitCode, delayMs }))) return "stopped";
  }
}

/** False if the process is to stop instead. */
async function restart(state: State, facts: { exitCode: number; delayMs: number }): Promise<boolean> {
  const { spec, stopping, current } = state;
  if (stopping.aborted) return false;
  spec.log.error({ process: spec.name, ...facts }, "process ended; restarting it");
  await pause(facts.delayMs, stopping);
  await state.replacing;
  if (stopping.aborted) return false;
  if (state.current !== current) return true;
  const started = state.begin(false);
  state.current = started;
  void started.ready.then(() =>
    spec.log.info({ process: spec.name, pid: started.pid }, "process is ready again"),
  );
  return true;
}

async function replace(state: State): Promise<boolean> {
  const { spec, begin, stopping } = state;
  const successor = begin(true);
  const waited = new AbortController();
  const ready = await Promise.race([
    successor.ready,
    successor.exited.then(() => false),
    pause(SUCCESSOR_MS, waited.signal).then(() => false),
  ]);
  waited.abort();
  if (stopping.aborted) return false;
  if (!ready) {
    spec.log.error({ process: spec.name }, "the successor did not become ready; the present process goes on");
    successor.kill("SIGKILL");
    return false;
  }
  spec.log.info({ process: spec.name, pid: successor.pid, replaced: state.current.pid }, "process replaced");
  state.current.kill(REPLACED_SIGNAL);
  state.current = successor;
  return true;
}
