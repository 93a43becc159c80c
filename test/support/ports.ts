import { until } from "./until.ts";

// Systems take the ports of outgoing connections from above: none of those can come between choosing and listening.
const LOWEST = 10_000;
const HIGHEST = 29_999;

/** A TCP port on loopback that nobody listens on. It is random, so that test processes side by side differ. */
export function freePort(): number {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
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
