/** Starts Bun's request thread. Without it, a first call without free file descriptors would end the process. */
export async function startRequestThread(): Promise<void> {
  await fetch("http://localhost/", { unix: "/dev/null" }).catch(() => {});
}
