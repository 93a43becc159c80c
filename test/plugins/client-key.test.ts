import { describe, expect, test } from "bun:test";
import type { ClientKey } from "#gateway/directory.ts";
import { GatewayError } from "#gateway/errors.ts";
import { authenticate } from "#gateway/plugins/client-key.ts";

const secret = (mark: string) => `tg_${mark.repeat(43)}`;
const hash = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

const KEY = { id: "the-key" } as ClientKey;
const KNOWN = secret("a");
const keys = { keyOf: (sha256Hex: string) => (sha256Hex === hash(KNOWN) ? KEY : null) };

const foreignBeside = async (headers: Record<string, string>) =>
  (await authenticate(keys, new Headers({ "x-gateway-key": KNOWN, ...headers }))).passthroughCredential;

describe("the credential beside x-gateway-key", () => {
  test("a vendor's own is kept for the subscription lane, with its header", async () => {
    expect(await foreignBeside({ authorization: "Bearer sk-ant-oat01-x" })).toEqual({
      header: "authorization",
      value: "Bearer sk-ant-oat01-x",
    });
    expect(await foreignBeside({ "x-api-key": "sk-ant-api03-x" })).toEqual({
      header: "x-api-key",
      value: "sk-ant-api03-x",
    });
  });

  test("a key of ours is never taken for a vendor's, be it revoked, or not known here yet", async () => {
    expect(await foreignBeside({ authorization: `Bearer ${KNOWN}` })).toBeNull();
    expect(await foreignBeside({ authorization: `Bearer ${secret("b")}` })).toBeNull();
    expect(await foreignBeside({ "x-api-key": secret("b") })).toBeNull();
    expect(await foreignBeside({ "x-api-key": secret("b").replace("tg_", "tga_") })).toBeNull();
  });

  test("a client key in authorization does not hide a vendor's in x-api-key", async () => {
    expect(await foreignBeside({ authorization: `Bearer ${secret("b")}`, "x-api-key": "sk-ant-x" })).toEqual({
      header: "x-api-key",
      value: "sk-ant-x",
    });
  });

  test("it is not looked up, so a key store that is away does not matter", async () => {
    const away = {
      keyOf(sha256Hex: string) {
        if (sha256Hex === hash(KNOWN)) return KEY;
        throw new GatewayError("key_unverifiable");
      },
    };
    const headers = new Headers({ "x-gateway-key": KNOWN, authorization: `Bearer ${secret("b")}` });
    expect((await authenticate(away, headers)).key).toBe(KEY);
  });
});
