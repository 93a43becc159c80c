/**
 * Starts the thread that Bun sends requests from, by a request that goes nowhere. Without it the first call of a process
 * that has run out of file descriptors ends the process; with it such a call fails with EMFILE.
 */
export async function startRequestThread(): Promise<void> {
  await fetch("http://localhost/", { unix: "/dev/null" }).catch(() => {});
}
