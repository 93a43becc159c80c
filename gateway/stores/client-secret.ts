import { randomBytes } from "node:crypto";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^43 is the first power over 2^256. */
const LENGTH = 43;

/** Prefixes of our secrets: client key, admin key or token, one-time sign-in link, session, device code, return from a
 * sign-in elsewhere, refresh token. */
type Prefix = "tg_" | "tga_" | "tgl_" | "tgf_" | "tgs_" | "tgd_" | "tgr_" | "tgn_";

/** A new secret: its prefix and 256 random bits in base62. */
export function newSecret(prefix: Prefix): string {
  let rest = BigInt(`0x${randomBytes(32).toString("hex")}`);
  let digits = "";
  for (let index = 0; index < LENGTH; index++) {
    digits = BASE62[Number(rest % 62n)] + digits;
    rest /= 62n;
  }
  return `${prefix}${digits}`;
}

const CLIENT_KEY = /^tg_[0-9A-Za-z]{43}$/;

/** Whether a credential has the form of a client key. */
export const isClientKeyForm = (secret: string): boolean => CLIENT_KEY.test(secret);

const REFRESH_TOKEN = /^tgn_[0-9A-Za-z]{43}$/;

/** Whether a credential has the form of a refresh token. */
export const isRefreshTokenForm = (secret: string): boolean => REFRESH_TOKEN.test(secret);

/** The stored parts of a secret: its digest, and its last characters for people who compare keys by eye. */
export const secretDigest = (secret: string): { sha256: Uint8Array; lastFour: string } => ({
  sha256: new Bun.CryptoHasher("sha256").update(secret).digest(),
  lastFour: secret.slice(-4),
});
