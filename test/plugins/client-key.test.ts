import { describe, expect, test } from "bun:test";
import { Registry } from "prom-client";
import { type ClientKey, Secret } from "#gateway/directory.ts";
import { GatewayError } from "#gateway/errors.ts";
import { adminSecretCheck } from "#gateway/plugins/admin-key.ts";
import { authenticate } from "#gateway/plugins/client-key.ts";
import { openRefusals } from "#gateway/plugins/refusals.ts";
import { systemClock } from "#shared/clock.ts";
import { createLog } from "#shared/log.ts";

const secret = (mark: string) => `tg_${mark.repeat(43)}`;
const hash = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

const KEY = { id: "the-key" } as ClientKey;
const KNOWN = secret("a");
const ADMIN_KEY = "an-admin-key-of-your-own-choice";
const refusals = openRefusals({
  clock: systemClock,
  log: createLog("test", "fatal"),
  metrics: new Registry(),
  addressOf: () => "192.0.2.1",
  perMinuteMax: 10,
});
const callers = {
  keyOf: (sha256Hex: string) => (sha256Hex === hash(KNOWN) ? KEY : null),
  isAdminKey: adminSecretCheck(new Secret(ADMIN_KEY)),
  refusals,
};

const from = (headers: Record<string, string>) => new Request("http://gateway.test/", { headers });
const foreignBeside = async (headers: Record<string, string>) =>
  (await authenticate(callers, from({ "x-gateway-key": KNOWN, ...headers }))).passthroughCredential;

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
    for (const prefix of ["tga_", "tgn_", "tgd_"])
      expect(await foreignBeside({ "x-api-key": secret("b").replace("tg_", prefix) })).toBeNull();
  });

  test("a key of ours with something around it is none either, such as a session's cookie", async () => {
    for (const around of [`${KNOWN} x`, `x ${KNOWN}`, `tgs_${"a".repeat(43)}.signature`, `"${KNOWN}"`]) {
      expect(await foreignBeside({ authorization: `Bearer ${around}` })).toBeNull();
      expect(await foreignBeside({ "x-api-key": around })).toBeNull();
    }
  });

  test("the admin key never leaves the gateway, whatever its form", async () => {
    expect(await foreignBeside({ authorization: `Bearer ${ADMIN_KEY}` })).toBeNull();
    expect(await foreignBeside({ "x-api-key": ADMIN_KEY })).toBeNull();
    expect(await foreignBeside({ "x-api-key": `x ${ADMIN_KEY}` })).toBeNull();
  });

  test("a client key in authorization does not hide a vendor's in x-api-key", async () => {
    expect(await foreignBeside({ authorization: `Bearer ${secret("b")}`, "x-api-key": "sk-ant-x" })).toEqual({
      header: "x-api-key",
      value: "sk-ant-x",
    });
  });

  test("it is not looked up, so a key store that is away does not matter", async () => {
    const away = {
      ...callers,
      keyOf(sha256Hex: string) {
        if (sha256Hex === hash(KNOWN)) return KEY;
        throw new GatewayError("key_unverifiable");
      },
    };
    const request = from({ "x-gateway-key": KNOWN, authorization: `Bearer ${secret("b")}` });
    expect((await authenticate(away, request)).key).toBe(KEY);
  });
});

describe("wrong keys", () => {
  const refused = async (headers: Record<string, string>) => {
    const error = await authenticate(callers, from(headers)).catch((caught) => caught);
    return [error.type, error.headers["retry-after"]];
  };

  test("are refused with 429 from the tenth in a minute on, while right ones pass", async () => {
    for (let tries = 1; tries < 10; tries++) {
      expect(await refused({ authorization: `Bearer ${secret("x")}` })).toEqual([
        "unauthenticated",
        undefined,
      ]);
    }
    const [type, wait] = await refused({ "x-gateway-key": "anything" });
    expect(type).toBe("too_many_refusals");
    expect(Number(wait)).toBeWithin(1, 61);
    expect((await authenticate(callers, from({ "x-gateway-key": KNOWN }))).key).toBe(KEY);
  });

  test("a request without any key is no guess", async () => {
    expect(await refused({})).toEqual(["unauthenticated", undefined]);
  });
});
