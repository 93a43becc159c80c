import { hkdfSync } from "node:crypto";

/** 32 bytes from 64 hexadecimal digits or from base64 (either alphabet, padded or not); null for anything else. */
export function parseMasterKey(value: string): Uint8Array | null {
  if (/^[0-9a-fA-F]{64}$/.test(value)) return Uint8Array.fromHex(value);
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(value)) return null;
  return new Uint8Array(Buffer.from(value, "base64"));
}

/**
 * The key under which the GitHub App seals its own credentials: 32 bytes of the master key's, of which the master key
 * cannot be had back. So the App's process never holds what opens the providers' credentials.
 */
export const githubAppKey = (masterKey: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", masterKey, new Uint8Array(), "tallygate github app", 32));

/** What signs the cookies of signed-in browsers; of it, too, the master key cannot be had back. */
export const signInSecret = (masterKey: Uint8Array): string =>
  Buffer.from(hkdfSync("sha256", masterKey, new Uint8Array(), "tallygate sign-in", 32)).toString("base64");
