import { closeSync, openSync } from "node:fs";
import { stopAsker } from "#shared/stop-signal.ts";
import { onRunnerExit } from "./runner-exit.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

export type StopRequests = {
  /** The first signal to stop. */
  first: Promise<NodeJS.Signals>;
  /** A SIGINT a second or more later, from an impatient user. */
  second: Promise<void>;
  /** Aborted by the first signal. */
  signal: AbortSignal;
  /** Calls `restart` at each SIGHUP, which asks for new processes. That of a terminal that closes is a signal to stop. */
  onRestart(restart: () => void): void;
};

/** Handles signals from now on, so that none kills this process. The runner's end counts as one. */
export function stopRequests(): StopRequests {
  const first = Promise.withResolvers<NodeJS.Signals>();
  const second = Promise.withResolvers<void>();
  const stopping = new AbortController();
  const hadTerminal = hasTerminal();
  let restart = () => {};
  const stop = (name: NodeJS.Signals) => {
    stopping.abort();
    first.resolve(name);
  };
  const ask = stopAsker<NodeJS.Signals>(stop, second.resolve);
  for (const name of SIGNALS) process.on(name, () => ask(name));
  process.on("SIGHUP", () => {
    if (hadTerminal && !hasTerminal()) ask("SIGHUP");
    else if (!stopping.signal.aborted) restart();
  });
  onRunnerExit(() => ask("SIGTERM"));
  return {
    first: first.promise,
    second: second.promise,
    signal: stopping.signal,
    onRestart: (listener) => {
      restart = listener;
    },
  };
}

/** Whether this process has a terminal that is still open. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r+"));
    return true;
  } catch {
    return false;
  }
}
