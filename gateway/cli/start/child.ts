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
  /** Resolves when the process is gone for good: asked to, or because its settings are wrong. */
  ended: Promise<"stopped" | "misconfigured">;
  /** Whether a process runs just now. */
  running(): boolean;
  /** Passes a signal on; the process is not started again from now on. */
  stop(signal: NodeJS.Signals): void;
};

/**
 * Runs a script of ours as a child process, and again whenever it ends unasked. Its output goes where ours goes. Its
 * standard input is a pipe to us and carries nothing: it ends when we do, however we end, and that is the child's sign.
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
  // The launcher has read .env already, and gives each child what it needs of it.
  Bun.spawn([process.execPath, "--no-env-file", spec.script], {
    env: spec.env,
    // Its own session: Ctrl-C reaches it through us, once.
    detached: true,
    stdio: ["pipe", "inherit", "inherit"],
  });
