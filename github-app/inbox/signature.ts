import { createHmac, timingSafeEqual } from "node:crypto";

const FORM = /^sha256=([0-9a-f]{64})$/;

/** The digest of an `X-Hub-Signature-256` header; null for a missing or malformed one. */
export function readSignature(header: string | null): Uint8Array | null {
  const hex = FORM.exec(header ?? "")?.[1];
  return hex === undefined ? null : Buffer.from(hex, "hex");
}

/**
 * Whether `signature` is the HMAC-SHA-256 of the raw bytes under one of the secrets. All secrets are tried, in constant
 * time, so that timing reveals neither the digest nor which secret matched.
 */
export function isSigned(bytes: Uint8Array, signature: Uint8Array, secrets: readonly string[]): boolean {
  let signed = false;
  for (const secret of secrets) {
    const digest = createHmac("sha256", secret).update(bytes).digest();
    if (timingSafeEqual(digest, signature)) signed = true;
  }
  return signed;
}
