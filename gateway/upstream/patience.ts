import { within } from "#drizzle/database.ts";
import type { Watchdog } from "./watchdog.ts";

/** How long the gateway waits for its clients. */
export type Patience = {
  /** How long a client may leave a part of its answer unread. */
  readerMs: number;
  /** How long to wait for a body; each `BODY_BYTES_PER_SECOND` bytes received add a second. */
  bodyMs: number;
};

/** Bodies that arrive more slowly on average eventually time out. */
export const BODY_BYTES_PER_SECOND = 16 * 1024;

/** Remaining time of clients that delay a stop. */
const STOPPING_MS = 5000;

/** Called when the gateway stops. @returns the remaining time. */
function losePatience(patience: Patience): number {
  patience.readerMs = Math.min(patience.readerMs, STOPPING_MS);
  patience.bodyMs = Math.min(patience.bodyMs, STOPPING_MS);
  return STOPPING_MS;
}

/** How often to look whether a request is still being answered. */
const LOOK_MS = 50;

type Server = {
  stop(closeActiveConnections?: boolean): Promise<void>;
  readonly pendingRequests: number;
  readonly pendingWebSockets: number;
};

/**
 * Closes the port and lets running calls finish, for `drainMs` at most. Clients that have sent half a body or read nothing
 * get a few seconds. Connections without a request to answer are cut: Bun would wait for the rest of a body.
 */
export async function stopServing(
  server: Server,
  { patience, watchdog }: { patience: Patience; watchdog: Watchdog },
  drainMs: number,
): Promise<void> {
  watchdog.hurry(losePatience(patience));
  const idle = new AbortController();
  const stopped = server.stop();
  await within(drainMs, Promise.race([stopped, allAnswered(server, idle.signal)])).catch(() => undefined);
  idle.abort();
  await server.stop(true);
}

async function allAnswered(server: Server, over: AbortSignal): Promise<void> {
  while (server.pendingRequests + server.pendingWebSockets > 0 && !over.aborted) await Bun.sleep(LOOK_MS);
}
