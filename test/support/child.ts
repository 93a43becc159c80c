import { TRANSPILED } from "./transpiled.ts";

export type Child = {
  pid: number;
  /** What it has written to both outputs so far. */
  log(): string;
  /** Its status, once it has ended; 128 and the signal's number if a signal ended it. */
  exited: Promise<number>;
  hasExited(): boolean;
  /** Sends a signal and waits for the end. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
};

/**
 * When a test reaches its time limit, `bun test` sends SIGTERM to every process that the file has started. One that is
 * shared by the file's other tests has to outlive that, or they would all fail too: so a shell stands between, which
 * ignores the signal. It names the process on its first line and ends as it does.
 */
const SHIELD = `trap '' TERM
(trap - TERM; exec "$@") </dev/null &
echo $!
wait $!`;

/**
 * Starts a process of exactly this environment. It ends with a test process that was killed, by
 * BUN_FEATURE_FLAG_NO_ORPHANS; whoever starts it ends it otherwise.
 */
export async function startChild(command: readonly string[], env: Record<string, string>): Promise<Child> {
  const shell = Bun.spawn(["/bin/sh", "-c", SHIELD, "sh", ...command], {
    env: { ...TRANSPILED, ...env, BUN_FEATURE_FLAG_NO_ORPHANS: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const named = Promise.withResolvers<number>();
  const collect = async (stream: ReadableStream<Uint8Array>, take: (text: string) => void) => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) take(decoder.decode(bytes, { stream: true }));
  };
  let head: string | null = "";
  const takeOut = (text: string) => {
    if (head === null) {
      output += text;
      return;
    }
    head += text;
    const end = head.indexOf("\n");
    if (end === -1) return;
    named.resolve(Number(head.slice(0, end)));
    output += head.slice(end + 1);
    head = null;
  };
  const add = (text: string) => {
    output += text;
  };
  const read = Promise.all([collect(shell.stdout, takeOut), collect(shell.stderr, add)]);
  const pid = await named.promise;
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    if (shell.exitCode === null) process.kill(pid, signal);
    await shell.exited;
  };
  return {
    pid,
    log: () => output,
    exited: shell.exited.then(async (status) => {
      await read;
      return status;
    }),
    hasExited: () => shell.exitCode !== null,
    end,
  };
}
