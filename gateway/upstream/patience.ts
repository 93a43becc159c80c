/** How long the gateway waits for its clients. */
export type Patience = {
  /** How long a client may leave a part of its answer unread. */
  readerMs: number;
  /** How long to wait for a body, besides a second for every `BODY_BYTES_PER_SECOND` bytes of it. */
  bodyMs: number;
};

/** A body that comes more slowly on average is given up in the end. */
export const BODY_BYTES_PER_SECOND = 16 * 1024;

/** How long clients that hold up a stop have left. */
const STOPPING_MS = 5000;

/** Called when the gateway stops. @returns the time that is left. */
export function losePatience(patience: Patience): number {
  patience.readerMs = Math.min(patience.readerMs, STOPPING_MS);
  patience.bodyMs = Math.min(patience.bodyMs, STOPPING_MS);
  return STOPPING_MS;
}
