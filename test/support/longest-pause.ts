/** The longest time in milliseconds that a timer of 1 ms had to wait for its turn while `until` was under way. */
export async function longestPause(until: Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await until;
  clearInterval(timer);
  return longest;
}
