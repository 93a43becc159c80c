import { atEnd } from "./at-end.ts";
import { startChild } from "./child.ts";
import { freePort } from "./ports.ts";
import { until } from "./until.ts";

export type ServerProcess = {
  url: string;
  pid(): number;
  /** Everything that it has written to its log so far, over all its starts. */
  log(): string;
  /** Kills it with -9, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same settings. */
  start(): Promise<void>;
  /** SIGTERM, and waits for its end. */
  stop(): Promise<void>;
  /** Resolves once it has seen all that reached its sockets before, such as a client that left. */
  caughtUp(): Promise<void>;
};

/** The gateway or the GitHub App as a process, once `/readyz` says so, on a port of its own in the variable `portName`. */
export async function startServer(
  main: string,
  portName: "PORT" | "GITHUB_APP_PORT",
  settings: Record<string, string>,
): Promise<ServerProcess> {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { PATH: process.env["PATH"] ?? "", [portName]: String(port), LOG_LEVEL: "warn", ...settings };
  const launch = () => startChild([process.execPath, "--no-env-file", main], env);
  let past = "";
  let child = await launch();
  // Once, for all its starts: a test may restart what was started for its whole file.
  atEnd(() => child.end("SIGKILL"));
  const isReady = async () => {
    if (child.hasExited()) throw new Error(`the process ended while it was starting:\n${child.log()}`);
    return fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    await child.end(signal);
    await child.exited;
  };
  await until(isReady);
  return {
    url,
    pid: () => child.pid,
    log: () => past + child.log(),
    kill: () => end("SIGKILL"),
    start: async () => {
      past += child.log();
      child = await launch();
      await until(isReady);
    },
    stop: () => end("SIGTERM"),
    caughtUp: async () => {
      // Two turns of its loop: in the first one the connection may come before what it is to be seen after.
      for (const _ of [1, 2])
        await fetch(`${url}/readyz`, { keepalive: false }).then((answer) => answer.text());
    },
  };
}
