import { hkdfSync } from "node:crypto";

/** 32 bytes from 64 hexadecimal digits or from base64 (either alphabet, padded or not); null for anything else. */
export function parseMasterKey(value: string): Uint8Array | null {
  if (/^[0-9a-fA-F]{64}$/.test(value)) return Uint8Array.fromHex(value);
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(value)) return null;
  return new Uint8Array(Buffer.from(value, "base64"));
}

/** The key for the App's own credentials, derived from the master key, which its process never holds. */
export const githubAppKey = (masterKey: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", masterKey, new Uint8Array(), "tallygate github app", 32));

/** The key that signs session cookies; the master key cannot be recovered from it either. */
export const signInSecret = (masterKey: Uint8Array): string =>
  Buffer.from(hkdfSync("sha256", masterKey, new Uint8Array(), "tallygate sign-in", 32)).toString("base64");
