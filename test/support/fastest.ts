/** The least time in milliseconds that `work` took of some tries: a busy machine makes some of them slow, and none fast. */
export async function fastestMs(work: () => unknown, tries = 3): Promise<number> {
  let fastest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < tries; run++) {
    const began = performance.now();
    await work();
    fastest = Math.min(fastest, performance.now() - began);
  }
  return fastest;
}
