import { describe, expect, test } from "bun:test";
import { clientAddress, trustedProxies, trustedProxiesSetting } from "#shared/proxies.ts";
import { fits } from "#shared/schema.ts";

const NEAR = "127.0.0.1";
const at = (setting: string, peer: string, headers: Record<string, string>) =>
  clientAddress(peer, new Headers(headers), trustedProxies(setting));

describe("the client's address", () => {
  test.each([
    ["no proxy is trusted", "", NEAR, { "x-forwarded-for": "8.8.8.8" }, NEAR],
    ["a client says so itself", "loopback", "9.9.9.9", { "x-forwarded-for": "8.8.8.8" }, "9.9.9.9"],
    ["the proxy says it", "loopback", NEAR, { "x-forwarded-for": "8.8.8.8" }, "8.8.8.8"],
    [
      "what the client wrote is left of it",
      "loopback",
      NEAR,
      { "x-forwarded-for": "1.1.1.1, 8.8.8.8" },
      "8.8.8.8",
    ],
    [
      "of two proxies",
      "loopback,10.0.0.0/8",
      NEAR,
      { "x-forwarded-for": "1.1.1.1, 8.8.8.8, 10.1.2.3" },
      "8.8.8.8",
    ],
    [
      "all are trusted",
      "loopback, private",
      NEAR,
      { "x-forwarded-for": "192.168.1.7, 10.1.2.3" },
      "192.168.1.7",
    ],
    ["it is not known", "loopback,private", NEAR, { "x-forwarded-for": "unknown, 10.1.2.3" }, "10.1.2.3"],
    ["there is no header", "loopback", NEAR, {}, NEAR],
    ["with a port", "loopback", NEAR, { "x-forwarded-for": "8.8.8.8:4711" }, "8.8.8.8"],
    ["IPv6", "loopback", "::1", { "x-forwarded-for": "2001:DB8::7" }, "2001:db8::7"],
    ["IPv4 in IPv6", "loopback", "::ffff:127.0.0.1", { "x-forwarded-for": "::ffff:8.8.8.8" }, "8.8.8.8"],
    [
      "Forwarded",
      "loopback",
      NEAR,
      { forwarded: 'for=1.1.1.1, for=8.8.8.8;proto=https;by="[::1]"' },
      "8.8.8.8",
    ],
    [
      "Forwarded with IPv6",
      "loopback",
      NEAR,
      { forwarded: 'proto=https;For="[2001:db8::7]:4711"' },
      "2001:db8::7",
    ],
    ["Forwarded without it", "loopback", NEAR, { forwarded: "proto=https" }, NEAR],
    ["hidden", "loopback", NEAR, { forwarded: "for=_hidden" }, NEAR],
    [
      "both, the same",
      "loopback",
      NEAR,
      { forwarded: "for=8.8.8.8", "x-forwarded-for": "8.8.8.8" },
      "8.8.8.8",
    ],
    [
      "both, and one is the client's",
      "loopback",
      NEAR,
      { forwarded: "for=1.1.1.1", "x-forwarded-for": "8.8.8.8" },
      NEAR,
    ],
    ["one address", "172.20.0.5", "172.20.0.5", { "x-forwarded-for": "8.8.8.8" }, "8.8.8.8"],
  ] as const)("%s", (_, setting, peer, headers, expected) => {
    expect(at(setting, peer, headers)).toBe(expected);
  });
});

test("a setting names networks, addresses and the two words", () => {
  const accepts = (value: string) => fits(trustedProxiesSetting(), value);
  for (const value of ["loopback", "loopback, Private", "10.0.0.0/8,fd00::/8", "172.20.0.5", "::1"]) {
    expect([value, accepts(value)]).toEqual([value, true]);
  }
  for (const value of [
    "",
    "all",
    "10.0.0.0/33",
    "fd00::/129",
    "10.0.0/8",
    "example.com",
    "loopback,,",
    "10.0.0.0/",
  ]) {
    expect([value, accepts(value)]).toEqual([value, false]);
  }
});
