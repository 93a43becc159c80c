import { closeSync, openSync, readFileSync } from "node:fs";
import { readPresent } from "#shared/env.ts";
import { stopAsker } from "#shared/stop-signal.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

export type StopRequests = ReturnType<typeof stopRequests>;

/** Handles signals from now on, so that none kills this process. The runner's end counts as one. */
export function stopRequests() {
  const first = Promise.withResolvers<NodeJS.Signals>();
  const second = Promise.withResolvers<void>();
  const stopping = new AbortController();
  const hadTerminal = hasTerminal();
  let restart = () => {};
  const stop = (name: NodeJS.Signals) => {
    stopping.abort();
    first.resolve(name);
  };
  const ask = stopAsker<NodeJS.Signals>(stop, second.resolve);
  for (const name of SIGNALS) process.on(name, () => ask(name));
  process.on("SIGHUP", () => {
    if (hadTerminal && !hasTerminal()) ask("SIGHUP");
    else if (!stopping.signal.aborted) restart();
  });
  onRunnerExit(() => ask("SIGTERM"));
  return {
    /** The first signal to stop. */
    first: first.promise,
    /** A SIGINT a second or more later, from an impatient user. */
    second: second.promise,
    /** Aborted by the first signal. */
    signal: stopping.signal,
    /** Calls `listener` at each SIGHUP, which asks for new processes. That of a terminal that closes is a signal to stop. */
    onRestart: (listener: () => void): void => {
      restart = listener;
    },
  };
}

/** Whether this process has a terminal that is still open. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r+"));
    return true;
  } catch {
    return false;
  }
}

/** npx puts a shell and `bun run` above us. */
const LEVELS_MAX = 5;

const EVERY_MS = 1_000;

/**
 * Calls `ended` once when the package runner that started this process (`bun run`, and `npx` above it) is gone. Runners
 * do not forward every signal, and their children would otherwise run on unseen and hold their ports. Without a runner
 * the process is left alone, so that it may outlive its terminal.
 */
function onRunnerExit(ended: () => void): void {
  if (readPresent(["npm_lifecycle_event"]).size === 0) return;
  const chain = runners();
  if (chain.length === 0) return;
  const timer = setInterval(() => {
    if (sameChain(chain)) return;
    clearInterval(timer);
    ended();
  }, EVERY_MS);
  timer.unref();
}

/** Our parent and, if npm is among its ancestors, every process up to that. */
function runners(): number[] {
  const above: number[] = [];
  for (let level = 0, pid = parentOf(process.pid); level < LEVELS_MAX && pid !== null && pid > 1; level++) {
    above.push(pid);
    if (nameOf(pid).startsWith("npm")) return above;
    pid = parentOf(pid);
  }
  return above.slice(0, 1);
}

/** Whether each is still the child of the next: the child of a dead process gets another parent. */
function sameChain(chain: readonly number[]): boolean {
  const whole = [process.pid, ...chain];
  return whole.every((pid, index) => index === whole.length - 1 || parentOf(pid) === whole[index + 1]);
}

function parentOf(pid: number): number | null {
  const text = process.platform === "linux" ? statusOf(pid, "PPid") : ps(pid, "ppid=");
  return text === "" ? null : Number(text);
}

const nameOf = (pid: number): string =>
  process.platform === "linux" ? statusOf(pid, "Name") : ps(pid, "comm=");

function statusOf(pid: number, field: string): string {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return new RegExp(`^${field}:\\s*(.*)$`, "m").exec(status)?.[1] ?? "";
  } catch {
    return "";
  }
}

function ps(pid: number, column: string): string {
  if (process.platform === "win32") return "";
  return Bun.spawnSync(["ps", "-o", column, "-p", String(pid)])
    .stdout.toString()
    .trim();
}
