/**
 * The least processor time in milliseconds that this thread used for `work` in some tries. Other programs on the
 * machine make work take longer, but not use more processor time.
 */
export async function cpuMs(work: () => unknown, tries = 3): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < tries; run++) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
