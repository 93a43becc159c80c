import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";

/** The path of one-time links on the GitHub App's port. */
const SETUP_LINK_PATH = "/setup/enter";
export const SETUP_LINK_MINUTES = 15;

/** A text signed with `key` for one purpose, valid until `untilMs` (Unix milliseconds). `about` has no full stop. */
export function signed(key: Uint8Array, purpose: string, { about, untilMs }: Signed): string {
  const text = `${about}.${untilMs}`;
  return `${text}.${mac(key, purpose, text)}`;
}

type Signed = { about: string; untilMs: number };

/** The text that was signed for this purpose; null: not signed, or expired. */
export function readSigned(key: Uint8Array, purpose: string, given: { text: string; now: Date }) {
  const [about = "", until = "", tag = ""] = given.text.split(".");
  const expected = Buffer.from(mac(key, purpose, `${about}.${until}`));
  const actual = Buffer.from(tag);
  if (expected.byteLength !== actual.byteLength || !timingSafeEqual(expected, actual)) return null;
  const untilMs = Number(until);
  return untilMs > given.now.getTime() ? { about, untilMs } : null;
}

const mac = (key: Uint8Array, purpose: string, text: string): string =>
  createHmac("sha256", key).update(`tallygate ${purpose} ${text}`).digest("base64url");

const LINK = "setup link";

/** Path and query of a link that opens the set-up page once, within 15 minutes. `key`: of `githubAppKey`. */
export function newSetupLink(key: Uint8Array, now: Date): { path: string; expiresAt: string } {
  const untilMs = now.getTime() + SETUP_LINK_MINUTES * 60_000;
  const token = signed(key, LINK, { about: randomUUID(), untilMs });
  return { path: `${SETUP_LINK_PATH}?token=${token}`, expiresAt: new Date(untilMs).toISOString() };
}

/** The token's digest, which records its use; null: the token is invalid. */
export function readSetupLink(
  key: Uint8Array,
  given: { text: string; now: Date },
): { tokenSha256: string; expiresAt: string } | null {
  const token = readSigned(key, LINK, given);
  return (
    token && {
      tokenSha256: createHash("sha256").update(given.text).digest("hex"),
      expiresAt: new Date(token.untilMs).toISOString(),
    }
  );
}
