/** Set for a child of the launcher: its standard input is then a pipe that ends when the launcher does. */
export const SUPERVISED = "TALLYGATE_SUPERVISED";

/** Set for a child that is to replace another one, which still runs. */
export const TAKES_OVER = "TALLYGATE_TAKES_OVER";

/** What the launcher sends to a child that another one has replaced. */
export const REPLACED_SIGNAL = "SIGUSR2";
export const REPLACED = "replaced";

/** What a child tells the launcher once it does its work. */
export const READY = "ready";

/** Tells the launcher, if there is one, that this process does its work. */
export const sayReady = (): void => void process.send?.(READY);

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * Calls `stop` once, at the first signal to end, when the launcher that started this process is gone, or when the
 * launcher has replaced it (`REPLACED`). A second SIGINT ends the process at once.
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
  if (!supervised) return;
  process.on(REPLACED_SIGNAL, () => ask(REPLACED));
  void inputEnded().then(() => ask("launcher gone"));
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
