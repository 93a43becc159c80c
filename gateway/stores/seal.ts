import { createSecretBox } from "#shared/secret-box.ts";
import { Secret } from "../directory.ts";

/** The owner of a sealed text. It opens for this owner only, so that a copied column is useless. */
export type SealContext =
  | { orgId: string; provider: string; purpose: "credential" }
  | { orgId: string; provider: string; header: string; purpose: "header" }
  | { orgId: string; requestId: string; purpose: "body" }
  | { orgId: string; keyId: string; answerId: string; purpose: "answer" }
  | { orgId: string; toolServer: string; purpose: "tool_credential" }
  | { orgId: string; toolServer: string; keyId: string; purpose: "tool_session" }
  | { orgId: string; account: string; purpose: "vendor_account" }
  | { orgId: string; destination: string; purpose: "export" }
  | { orgId: string; alert: string; purpose: "alert" }
  | { orgId: string; purpose: "digest_webhook" | "directory" };

export type Sealer = {
  /** `1.<key id>.<nonce>.<ciphertext and tag>`, the binary parts in base64url. */
  seal(text: string, belonging: SealContext): string;
  /** Null when it was sealed with another master key or for something else, or was tampered with. */
  open(sealed: string, belonging: SealContext): Secret | null;
};

/** A secret as it is shown: `…` and its last four characters. */
export function lastFour(secret: Secret | null): string | null {
  const value = secret?.reveal();
  // Of a short one, four characters would give too much away.
  return value === undefined ? null : `…${value.length < 12 ? "" : value.slice(-4)}`;
}

/** Seals under the 32 bytes of `masterKey` (shared/secret-box.ts). */
export function createSealer(masterKey: Uint8Array): Sealer {
  const box = createSecretBox(masterKey);
  return {
    seal: (text, belonging) => box.seal(text, additionalData(belonging)),
    open: (sealed, belonging) => {
      const text = box.open(sealed, additionalData(belonging));
      return text === null ? null : new Secret(text);
    },
  };
}

/** No part but a header's name contains a `|`: names of providers and tool servers cannot, and other parts are fixed. */
const additionalData = (it: SealContext): string => `${it.orgId}|${ownerOf(it)}|${it.purpose}`;

function ownerOf(it: SealContext): string {
  switch (it.purpose) {
    case "credential":
      return it.provider;
    case "export":
      return it.destination;
    case "header":
      return `${it.provider}|${it.header.toLowerCase()}`;
    case "body":
      return it.requestId;
    case "answer":
      return `${it.keyId}|${it.answerId}`;
    case "tool_credential":
      return it.toolServer;
    case "tool_session":
      return `${it.toolServer}|${it.keyId}`;
    case "vendor_account":
      return it.account;
    case "alert":
      return it.alert;
    case "digest_webhook":
    case "directory":
      return "";
  }
}
