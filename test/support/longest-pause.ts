/** Milliseconds of processor time that this thread has had: other programs do not stretch them. */
function busyMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The most processor time in milliseconds that this thread spent between two turns of a timer of 1 ms while `until` was under way. */
export async function longestPause(until: Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = busyMs();
  const timer = setInterval(() => {
    const now = busyMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  await until;
  clearInterval(timer);
  return longest;
}
