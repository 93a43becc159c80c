/** Set for a child of the launcher: its standard input is then a pipe that ends when the launcher does. */
export const SUPERVISED = "TALLYGATE_SUPERVISED";

/** Set for a child that is to replace another one, which still runs. */
export const TAKES_OVER = "TALLYGATE_TAKES_OVER";

/** Set for a child that shares its work with others of the same program: their number, including itself. */
export const PROCESSES = "TALLYGATE_PROCESSES";

/** Set for a child that joins others that already serve. */
export const JOINS = "TALLYGATE_JOINS";

/** The launcher's message to a child that has been replaced. */
export const REPLACED_SIGNAL = "SIGUSR2";
export const REPLACED = "replaced";

/** A child's message to the launcher: it serves. */
export const READY = "ready";

/** A child's message to the launcher: it could take calls; and the launcher's reply: take them over. */
export const PREPARED = "prepared";
export const PROCEED = "proceed";

/** Tells the launcher, if there is one, that this process serves. */
export const sayReady = (): void => tell(READY);

/** Tells the launcher, if there is one, that this process could take calls. */
export const sayPrepared = (): void => tell(PREPARED);

/** Resolves when the launcher lets this process take calls over, because its fellows are ready, too. */
export const mayProceed = (): Promise<void> =>
  new Promise((resolve) => {
    process.on("message", (message) => {
      if (message === PROCEED) resolve();
    });
    sayPrepared();
  });

function tell(message: string): void {
  // The launcher may be gone.
  if (process.connected) process.send?.(message);
}

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Ctrl-C reaches a program from its terminal and from each runner above it: signals this close are one request. */
const ONE_REQUEST_MS = 1_000;

/** Calls `first` at the first request to stop, with its reason, and `impatient` at a SIGINT a second or more later. */
export function stopAsker<Reason extends string>(
  first: (reason: Reason) => void,
  impatient: () => void,
): (reason: Reason) => void {
  let firstAt: number | null = null;
  return (reason) => {
    const now = performance.now();
    if (firstAt === null) {
      firstAt = now;
      first(reason);
    } else if (reason === "SIGINT" && now - firstAt >= ONE_REQUEST_MS) impatient();
  };
}

/**
 * Calls `stop` once, at the first signal to end, when the launcher that started this process is gone, or when the
 * launcher has replaced it (`REPLACED`). A SIGINT that comes a second or more later ends the process at once.
 */
export function onStopSignal(supervised: boolean, stop: (reason: string) => void): void {
  const ask = stopAsker<string>(stop, () => process.exit(130));
  for (const signal of SIGNALS) process.on(signal, () => ask(signal));
  if (!supervised) return;
  process.on(REPLACED_SIGNAL, () => ask(REPLACED));
  void inputEnded().then(() => ask("launcher gone"));
}

async function inputEnded(): Promise<void> {
  try {
    for await (const _ of Bun.stdin.stream()) {
      // The launcher never sends anything; only the end of input matters.
    }
  } catch {
    // A broken pipe is an end too.
  }
}
