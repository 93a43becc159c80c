/** Set for a child of the launcher: its standard input is then a pipe that ends when the launcher does. */
export const SUPERVISED = "TALLYGATE_SUPERVISED";

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * Calls `stop` once, at the first signal to end or when the launcher that started this process is gone. A second
 * SIGINT ends the process at once.
 */
export function onStopSignal(supervised: boolean, stop: (reason: string) => void): void {
  let asked = false;
  const ask = (reason: string) => {
    if (asked && reason === "SIGINT") process.exit(130);
    if (!asked) {
      asked = true;
      stop(reason);
    }
  };
  for (const signal of SIGNALS) process.on(signal, () => ask(signal));
  if (supervised) void inputEnded().then(() => ask("launcher gone"));
}

async function inputEnded(): Promise<void> {
  try {
    for await (const _ of Bun.stdin.stream()) {
      // Nothing is ever sent; only the end matters.
    }
  } catch {
    // A broken pipe is an end too.
  }
}
