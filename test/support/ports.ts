/** A TCP port on loopback that was free a moment ago. */
export function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = server;
  server.stop(true);
  return port;
}

/** Resolves once `url` answers anything at all; rejects after `timeoutMs`. */
export async function untilAnswers(url: string, timeoutMs = 15_000): Promise<void> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    try {
      const answer = await fetch(url);
      await answer.body?.cancel();
      return;
    } catch (error) {
      if (performance.now() > until) throw new Error(`${url} does not answer`, { cause: error });
      await Bun.sleep(50);
    }
  }
}
