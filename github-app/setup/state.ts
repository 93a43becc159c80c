import { createHmac, timingSafeEqual } from "node:crypto";

/** GitHub accepts the three steps within an hour. */
const VALID_MS = 3_600_000;

const mac = (key: Uint8Array, text: string): string =>
  createHmac("sha256", key).update(`tallygate setup state ${text}`).digest("base64url");

/**
 * A signed state for the round trip to GitHub, so that only a set-up that was started here ends here. It is valid for an
 * hour, at every process and after a restart, because nothing is stored.
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
