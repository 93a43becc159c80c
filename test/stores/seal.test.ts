import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { newSecret, secretDigest } from "#gateway/stores/client-secret.ts";
import { createSealer } from "#gateway/stores/seal.ts";

const KEY = new Uint8Array(32).fill(1);
const HERE = { orgId: "default", provider: "openai", purpose: "credential" } as const;
const sealer = createSealer(KEY);

describe("a sealed credential", () => {
  test("opens to the very text, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        const sealed = sealer.seal(text, HERE);
        expect(sealer.open(sealed, HERE)?.reveal()).toBe(text);
        if (text.length > 3) expect(sealed).not.toContain(text);
      }),
    );
  });

  test("looks different each time", () => {
    expect(sealer.seal("same", HERE)).not.toBe(sealer.seal("same", HERE));
  });

  test("does not open for another provider, organisation or master key", () => {
    const sealed = sealer.seal("sk", HERE);
    expect(sealer.open(sealed, { ...HERE, provider: "other" })).toBeNull();
    expect(sealer.open(sealed, { ...HERE, orgId: "other" })).toBeNull();
    expect(createSealer(new Uint8Array(32).fill(2)).open(sealed, HERE)).toBeNull();
  });

  test("does not open once any character of it is another", () => {
    const sealed = sealer.seal("sk-1234567890", HERE);
    for (let at = 0; at < sealed.length; at++) {
      const other = sealed[at] === "A" ? "B" : "A";
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      // The last character of base64 may carry bits that mean nothing.
      if (at < sealed.length - 1) expect(sealer.open(changed, HERE)).toBeNull();
    }
  });

  test.each(["", "1", "1.2.3.4", "....", "1...", "2.00000000.AAAA.AAAA"])("%p is none", (text) => {
    expect(sealer.open(text, HERE)).toBeNull();
  });

  test("a master key of another length is refused", () => {
    expect(() => createSealer(new Uint8Array(16))).toThrow(RangeError);
  });
});

describe("a client key's secret", () => {
  test("has 256 bits in 43 characters, every value of each place about as often", () => {
    const secrets = Array.from({ length: 2000 }, () => newSecret("tg_"));
    expect(new Set(secrets).size).toBe(2000);
    for (const secret of secrets) expect(secret).toMatch(/^tg_[0-9A-Za-z]{43}$/);
    const lastCharacters = new Set(secrets.map((secret) => secret.at(-1)));
    expect(lastCharacters.size).toBe(62);
  });

  test("leaves its digest and its last four characters", () => {
    const { sha256, lastFour } = secretDigest("tg_abcd");
    expect(Buffer.from(sha256).toString("hex")).toBe(
      new Bun.CryptoHasher("sha256").update("tg_abcd").digest("hex"),
    );
    expect(lastFour).toBe("abcd");
  });
});
