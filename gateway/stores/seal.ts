import { createSecretBox } from "#shared/secret-box.ts";
import { Secret } from "../directory.ts";

/** What names the owner of a sealed text, by its purpose. */
const OWNER = {
  credential: ["provider"],
  header: ["provider", "header"],
  body: ["requestId"],
  answer: ["keyId", "answerId"],
  tool_credential: ["toolServer"],
  tool_session: ["toolServer", "keyId"],
  vendor_account: ["account"],
  export: ["destination"],
  alert: ["alert"],
  digest_webhook: [],
  directory: [],
} as const;
type Owners = typeof OWNER;

/** The owner of a sealed text. It opens for this owner only, so that a copied column is useless. */
export type SealContext = {
  [Purpose in keyof Owners]: { orgId: string; purpose: Purpose } & Record<Owners[Purpose][number], string>;
}[keyof Owners];

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
function additionalData({ orgId, purpose, ...owner }: SealContext): string {
  const named: Readonly<Record<string, string>> = owner;
  const parts = OWNER[purpose].map((name) => (name === "header" ? named[name]?.toLowerCase() : named[name]));
  return `${orgId}|${parts.join("|")}|${purpose}`;
}
