import { JOINS, PREPARED, PROCEED, READY, TAKES_OVER } from "#shared/stop-signal.ts";
import { commandOf } from "../own-program.ts";

export type ChildProcess = {
  pid: number;
  exited: Promise<number>;
  /** Resolves once it could take calls. */
  prepared: Promise<true>;
  isPrepared(): boolean;
  /** Lets one that takes over begin: it waits for this once it is prepared. */
  proceed(): void;
  /** Resolves once it has said that it does its work. */
  ready: Promise<true>;
  isReady(): boolean;
  kill(signal: NodeJS.Signals): void;
  /** Does nothing if the process is gone. */
  send(message: object): void;
};

export type ChildProgram = {
  script: string;
  env: Record<string, string>;
  /** Gets what its processes send beside the news of their start. */
  onMessage?: (message: unknown, from: ChildProcess) => void;
};

/** How a process begins: alone, beside others that serve already, or to replace one that still runs. */
export type Beginning = "alone" | "joins" | "takes over";

const BEGINNINGS: Record<Beginning, Record<string, string>> = {
  alone: {},
  joins: { [JOINS]: "1" },
  "takes over": { [TAKES_OVER]: "1" },
};

export function startChildProcess(
  { script, env, onMessage }: ChildProgram,
  beginning: Beginning,
): ChildProcess {
  const prepared = flag();
  const ready = flag();
  // The launcher has read .env already and passes each child what it needs from it.
  const started = Bun.spawn(commandOf(script), {
    env: { ...env, ...BEGINNINGS[beginning] },
    // A session of its own: Ctrl-C reaches it through us, once.
    detached: true,
    stdio: ["pipe", "inherit", "inherit"],
    serialization: "json",
    ipc(message) {
      if (message === PREPARED || message === READY) prepared.raise();
      if (message === READY) ready.raise();
      else if (message !== PREPARED) onMessage?.(message, child);
    },
  });
  const send = (message: object | string) => {
    if (started.exitCode === null && started.signalCode === null) started.send(message);
  };
  const child: ChildProcess = {
    pid: started.pid,
    exited: started.exited,
    prepared: prepared.raised,
    isPrepared: prepared.isRaised,
    proceed: () => send(PROCEED),
    ready: ready.raised,
    isReady: ready.isRaised,
    kill: (signal) => started.kill(signal),
    send,
  };
  return child;
}

function flag() {
  const { promise, resolve } = Promise.withResolvers<true>();
  let isRaised = false;
  return {
    raised: promise,
    isRaised: () => isRaised,
    raise() {
      isRaised = true;
      resolve(true);
    },
  };
}
