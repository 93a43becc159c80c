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
export function losePatience(patience: Patience): number {
  patience.readerMs = Math.min(patience.readerMs, STOPPING_MS);
  patience.bodyMs = Math.min(patience.bodyMs, STOPPING_MS);
  return STOPPING_MS;
}
