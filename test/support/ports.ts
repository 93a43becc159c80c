import { until } from "./until.ts";

// Systems take the ports of outgoing connections from above: none of those can come between choosing and listening.
const LOWEST = 10_000;
const A_PROCESS = 100;
const SLICES = 200;

/** Test processes side by side have near pids, so each takes its ports from a slice of its own. */
const slice = LOWEST + (process.pid % SLICES) * A_PROCESS;
let taken = 0;

/** A TCP port on loopback that nobody listens on, and that no other test process is about to take. */
export function freePort(): number {
  for (;;) {
    const port = slice + (taken++ % A_PROCESS);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // Somebody listens there.
    }
  }
}

/** Resolves once `url` answers anything at all. */
export async function untilAnswers(url: string): Promise<void> {
  await until(async () => {
    const answer = await fetch(url).catch(() => null);
    await answer?.body?.cancel();
    return answer !== null;
  });
}
