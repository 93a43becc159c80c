import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { Secret } from "../directory.ts";

/** What a sealed text belongs to. It opens for this and nothing else, so that a copied column is of no use. */
export type Belonging =
  | { orgId: string; provider: string; purpose: "credential" }
  | { orgId: string; requestId: string; purpose: "body" }
  | { orgId: string; toolServer: string; purpose: "tool_credential" }
  | { orgId: string; toolServer: string; keyId: string; purpose: "tool_session" }
  | { orgId: string; purpose: "digest_webhook" };

export type Sealer = {
  /** `1.<key id>.<nonce>.<ciphertext and tag>`, the binary parts in base64url. */
  seal(text: string, belonging: Belonging): string;
  /** Null when it was sealed with another master key or for something else, or was tampered with. */
  open(sealed: string, belonging: Belonging): Secret | null;
};

const FORMAT = "1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM under the 32 bytes of `masterKey`. The key id in front tells by which key a text was sealed, so that a
 * rotation can find what is still to be sealed anew.
 */
export function createSealer(masterKey: Uint8Array): Sealer {
  if (masterKey.byteLength !== 32) throw new RangeError("a master key has 32 bytes");
  const keyId = createHash("sha256").update("tallygate key id").update(masterKey).digest("hex").slice(0, 8);
  return {
    seal(text, belonging) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", masterKey, nonce).setAAD(additionalData(belonging));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return [FORMAT, keyId, nonce.toString("base64url"), sealed.toString("base64url")].join(".");
    },
    open(sealed, belonging) {
      const [format, sealedBy, nonce = "", body = ""] = sealed.split(".");
      if (format !== FORMAT || sealedBy !== keyId) return null;
      const bytes = Buffer.from(body, "base64url");
      try {
        const decipher = createDecipheriv("aes-256-gcm", masterKey, Buffer.from(nonce, "base64url"), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(additionalData(belonging)).setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]);
        return new Secret(text.toString("utf8"));
      } catch {
        return null;
      }
    },
  };
}

/** No part holds a bar: names of providers and tool servers have none, the others are ours. */
const additionalData = (it: Belonging): Buffer => Buffer.from(`${it.orgId}|${ownerOf(it)}|${it.purpose}`);

function ownerOf(it: Belonging): string {
  switch (it.purpose) {
    case "credential":
      return it.provider;
    case "body":
      return it.requestId;
    case "tool_credential":
      return it.toolServer;
    case "tool_session":
      return `${it.toolServer}|${it.keyId}`;
    case "digest_webhook":
      return "";
  }
}
