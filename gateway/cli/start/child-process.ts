import { READY, TAKES_OVER } from "#shared/stop-signal.ts";

export type ChildProcess = {
  pid: number;
  exited: Promise<number>;
  /** Resolves once it has said that it does its work. */
  ready: Promise<true>;
  isReady(): boolean;
  kill(signal: NodeJS.Signals): void;
};

export type ChildProgram = { script: string; env: Record<string, string> };

/** Starts a script of ours. `takesOver`: it is to replace one that still runs. */
export function startChildProcess({ script, env }: ChildProgram, takesOver: boolean): ChildProcess {
  const ready = Promise.withResolvers<true>();
  let isReady = false;
  // The launcher has read .env already and passes each child what it needs from it.
  const started = Bun.spawn([process.execPath, "--no-env-file", script], {
    env: takesOver ? { ...env, [TAKES_OVER]: "1" } : env,
    // A session of its own: Ctrl-C reaches it through us, once.
    detached: true,
    stdio: ["pipe", "inherit", "inherit"],
    serialization: "json",
    ipc(message) {
      if (message !== READY) return;
      isReady = true;
      ready.resolve(true);
    },
  });
  return {
    pid: started.pid,
    exited: started.exited,
    ready: ready.promise,
    isReady: () => isReady,
    kill: (signal) => started.kill(signal),
  };
}
