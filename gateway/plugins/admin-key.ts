import { timingSafeEqual } from "node:crypto";
import type { Secret } from "../directory.ts";

/** Compares digests of equal length in constant time, so that neither time nor length leaks the key. */
export const adminSecretCheck = (adminKey: Secret): ((presented: string) => boolean) => {
  const expected = digest(adminKey.reveal());
  return (presented) => timingSafeEqual(digest(presented), expected);
};

const digest = (text: string): Uint8Array => new Bun.CryptoHasher("sha256").update(text).digest();
