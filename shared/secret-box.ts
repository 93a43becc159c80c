import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { DEFAULT_ORG } from "./ids.ts";

export type SecretBox = {
  /** `1.<key id>.<nonce>.<ciphertext and tag>`, the binary parts in base64url. `belonging` is bound to it. */
  seal(text: string, belonging: string): string;
  /** Null if it was sealed under another key or for another `belonging`, or was tampered with. */
  open(sealed: string, belonging: string): string | null;
};

const FORMAT = "1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export const isSealedText = (text: string): boolean =>
  /^1\.[0-9a-f]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{22,}$/.test(text);

/** Identifies a key in what it sealed, without revealing it: eight hexadecimal digits. */
export const keyIdOf = (key: Uint8Array): string =>
  createHash("sha256").update("tallygate key id").update(key).digest("hex").slice(0, 8);

/** AES-256-GCM under 32 bytes of `key`. The key id in front shows which texts a rotation has to seal again. */
export function createSecretBox(key: Uint8Array): SecretBox {
  if (key.byteLength !== 32) throw new RangeError("a master key has 32 bytes");
  const keyId = keyIdOf(key);
  return {
    seal(text, belonging) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(belonging));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return [FORMAT, keyId, nonce.toString("base64url"), sealed.toString("base64url")].join(".");
    },
    open(sealed, belonging) {
      const [format, sealedBy, nonce = "", body = ""] = sealed.split(".");
      if (format !== FORMAT || sealedBy !== keyId) return null;
      const bytes = Buffer.from(body, "base64url");
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64url"), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(Buffer.from(belonging)).setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]);
        return text.toString("utf8");
      } catch {
        return null;
      }
    },
  };
}

/** The context that an App's sealed credentials are bound to. */
export const sealedFor = (appId: number): string => `${DEFAULT_ORG}|${appId}|github_app`;
