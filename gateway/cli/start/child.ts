import { pause, restartDelayMs } from "#shared/backoff.ts";
import type { Clock } from "#shared/clock.ts";
import { CONFIGURATION_EXIT_CODE } from "#shared/env.ts";
import type { Log } from "#shared/log.ts";

export type ChildSpec = {
  name: string;
  script: string;
  env: Record<string, string>;
  clock: Clock;
  log: Log;
};

export type Child = {
  /** Resolves when the process is gone for good: stopped on request, or because its settings are wrong. */
  ended: Promise<"stopped" | "misconfigured">;
  running(): boolean;
  /** Forwards a signal; from then on the process is not restarted. */
  stop(signal: NodeJS.Signals): void;
};

/**
 * Runs a script of ours as a child process and restarts it whenever it exits unexpectedly. It shares our output. Its
 * standard input is a pipe that carries nothing: it closes when we end, however we end, which tells the child to stop.
 */
export function keepChild(spec: ChildSpec): Child {
  const stopping = new AbortController();
  let child = spawn(spec);
  const live = async () => {
    let delayMs = 0;
    for (;;) {
      const sinceMs = spec.clock.monotonicMs();
      const exitCode = await child.exited;
      if (exitCode === CONFIGURATION_EXIT_CODE) return "misconfigured";
      if (stopping.signal.aborted) return "stopped";
      delayMs = restartDelayMs(delayMs, spec.clock.monotonicMs() - sinceMs);
      spec.log.error({ process: spec.name, exitCode, delayMs }, "process ended; restarting it");
      await pause(delayMs, stopping.signal);
      if (stopping.signal.aborted) return "stopped";
      child = spawn(spec);
    }
  };
  const running = () => child.exitCode === null && child.signalCode === null;
  return {
    ended: live(),
    running,
    stop: (signal) => {
      stopping.abort();
      if (running()) child.kill(signal);
    },
  };
}

const spawn = (spec: ChildSpec) =>
  // The launcher has read .env already and passes each child what it needs from it.
  Bun.spawn([process.execPath, "--no-env-file", spec.script], {
    env: spec.env,
    // A session of its own: Ctrl-C reaches it through us, once.
    detached: true,
    stdio: ["pipe", "inherit", "inherit"],
  });
