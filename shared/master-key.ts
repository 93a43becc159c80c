import { hkdfSync } from "node:crypto";

/** 32 bytes from 64 hexadecimal digits or from base64 (either alphabet, padded or not); null for anything else. */
export function parseMasterKey(value: string): Uint8Array | null {
  if (/^[0-9a-fA-F]{64}$/.test(value)) return Uint8Array.fromHex(value);
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(value)) return null;
  return new Uint8Array(Buffer.from(value, "base64"));
}

/**
 * The key that seals the GitHub App's own credentials: 32 bytes derived from the master key, which cannot be recovered
 * from them. So the App's process never holds the key to the providers' credentials.
 */
export const githubAppKey = (masterKey: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", masterKey, new Uint8Array(), "tallygate github app", 32));

/** The key that signs session cookies; the master key cannot be recovered from it either. */
export const signInSecret = (masterKey: Uint8Array): string =>
  Buffer.from(hkdfSync("sha256", masterKey, new Uint8Array(), "tallygate sign-in", 32)).toString("base64");
