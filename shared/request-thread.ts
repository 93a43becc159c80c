/**
 * Starts Bun's request thread by a request that is never sent. Without it, the first call of a process that has run out
 * of file descriptors ends the process; with it, such a call fails with EMFILE.
 */
export async function startRequestThread(): Promise<void> {
  await fetch("http://localhost/", { unix: "/dev/null" }).catch(() => {});
}
