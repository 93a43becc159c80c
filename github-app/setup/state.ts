import { createHmac, timingSafeEqual } from "node:crypto";

/** GitHub takes an hour at most for the three steps. */
const VALID_MS = 3_600_000;

const mac = (key: Uint8Array, text: string): string =>
  createHmac("sha256", key).update(`tallygate setup state ${text}`).digest("base64url");

/**
 * A state for the way to GitHub and back, so that only a way that began here ends here. It holds for an hour and needs
 * no memory: it comes back to whichever process, restarted or not.
 */
export function newState(key: Uint8Array, now: Date): string {
  const text = `${crypto.randomUUID()}.${now.getTime() + VALID_MS}`;
  return `${text}.${mac(key, text)}`;
}

export function isState(key: Uint8Array, state: string, now: Date): boolean {
  const [id = "", until = "", given = ""] = state.split(".");
  const expected = Buffer.from(mac(key, `${id}.${until}`));
  const actual = Buffer.from(given);
  return (
    expected.byteLength === actual.byteLength &&
    timingSafeEqual(expected, actual) &&
    Number(until) > now.getTime()
  );
}
