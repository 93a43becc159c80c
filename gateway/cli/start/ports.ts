import { pause } from "#shared/backoff.ts";

/** `host:port` of a listener as reached from this machine: an unspecified address cannot be connected to. */
export function reachable(host: string, port: number): string {
  if (host === "0.0.0.0") return `127.0.0.1:${port}`;
  if (host === "::") return `[::1]:${port}`;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Resolves with true when `url` answers 200, or with false when `signal` aborts. */
export async function untilReady(url: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    const ready = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(2_000)]) }).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return true;
    await pause(50, signal);
  }
  return false;
}
