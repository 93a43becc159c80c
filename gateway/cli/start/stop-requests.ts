import { onRunnerExit } from "./runner-exit.ts";

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export type StopRequests = {
  /** The first signal to stop. */
  first: Promise<NodeJS.Signals>;
  /** A later SIGINT from an impatient user. */
  second: Promise<void>;
  /** Aborted by the first signal. */
  signal: AbortSignal;
};

/** Handles signals from now on, so that none kills this process. The runner's end counts as one. */
export function stopRequests(): StopRequests {
  const first = Promise.withResolvers<NodeJS.Signals>();
  const second = Promise.withResolvers<void>();
  const stopping = new AbortController();
  const ask = (name: NodeJS.Signals) => {
    if (stopping.signal.aborted && name === "SIGINT") second.resolve();
    stopping.abort();
    first.resolve(name);
  };
  for (const name of SIGNALS) process.on(name, () => ask(name));
  onRunnerExit(() => ask("SIGTERM"));
  return { first: first.promise, second: second.promise, signal: stopping.signal };
}
