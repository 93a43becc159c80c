/**
 * Ends the server when standard input closes: smartly first, so that a gateway that drains can still write, and 10 s
 * later at once. A pid that is no longer in the server's file belongs to another process.
 */
const SCRIPT = `read _
mine() { [ "$(head -n 1 "$2/postmaster.pid" 2>/dev/null)" = "$1" ]; }
mine "$1" "$2" && kill -TERM "$1"
n=0
while mine "$1" "$2" && [ $n -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
mine "$1" "$2" && kill -INT "$1"`;

/** Has the server of `data` end when this process does, even by `kill -9`. The returned function ends the watch. */
export function watchParent(pid: number, data: string): () => void {
  if (process.platform === "win32") return () => undefined;
  const shell = Bun.spawn(["/bin/sh", "-c", SCRIPT, "sh", String(pid), data], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    // Its own session: a Ctrl-C must not end it before the server.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  shell.unref();
  return () => shell.kill("SIGKILL");
}
