import { onRunnerExit } from "./runner-exit.ts";

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export type StopRequests = {
  /** The first signal that asks this process to end. */
  first: Promise<NodeJS.Signals>;
  /** A later SIGINT: somebody who does not want to wait. */
  second: Promise<void>;
  /** Aborted with the first. */
  signal: AbortSignal;
};

/** Listens for signals from now on, so that none ends this process by itself. The end of the runner counts as one. */
export function stopRequests(): StopRequests {
  const first = Promise.withResolvers<NodeJS.Signals>();
  const second = Promise.withResolvers<void>();
  const asked = new AbortController();
  const ask = (name: NodeJS.Signals) => {
    if (asked.signal.aborted && name === "SIGINT") second.resolve();
    asked.abort();
    first.resolve(name);
  };
  for (const name of SIGNALS) process.on(name, () => ask(name));
  onRunnerExit(() => ask("SIGTERM"));
  return { first: first.promise, second: second.promise, signal: asked.signal };
}
