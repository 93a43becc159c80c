import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "#gateway/errors.ts";
import { addressGuard, privateAddressFault } from "#gateway/upstream/ssrf.ts";
import { addressKind, isIpAddress } from "#shared/addresses.ts";
import { movableClock } from "#test/stores/movable-clock.ts";

describe("what kind of address it is", () => {
  test.each([
    ["93.184.216.34", "public"],
    ["1.1.1.1", "public"],
    ["2606:2800:220:1:248:1893:25c8:1946", "public"],
    ["127.0.0.1", "private"],
    ["127.255.255.254", "private"],
    ["10.0.0.1", "private"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["172.32.0.0", "public"],
    ["192.168.1.1", "private"],
    ["100.64.0.1", "private"],
    ["100.128.0.1", "public"],
    ["198.18.0.1", "private"],
    ["::1", "private"],
    ["fd12:3456::1", "private"],
    ["0.0.0.0", "forbidden"],
    ["169.254.169.254", "forbidden"],
    ["100.100.100.200", "forbidden"],
    ["168.63.129.16", "forbidden"],
    ["168.63.129.17", "public"],
    ["::ffff:168.63.129.16", "forbidden"],
    ["64:ff9b::a83f:8110", "forbidden"],
    ["169.254.170.2", "forbidden"],
    ["192.0.0.192", "forbidden"],
    ["fd00:ec2::23", "forbidden"],
    ["fd20:ce::254", "forbidden"],
    ["fd00:c1::a9fe:a9fe", "forbidden"],
    ["fd00:42::42", "forbidden"],
    ["fd00:a9fe:a9fe::1", "forbidden"],
    ["fd00:100::100:200", "forbidden"],
    ["192.0.2.1", "forbidden"],
    ["224.0.0.1", "forbidden"],
    ["255.255.255.255", "forbidden"],
    ["::", "forbidden"],
    ["fe80::1", "forbidden"],
    ["fe80::1%eth0", "forbidden"],
    ["fec0::1", "forbidden"],
    ["ff02::1", "forbidden"],
    ["fd00:ec2::254", "forbidden"],
    ["2001:db8::1", "forbidden"],
    ["2001::1", "forbidden"],
    ["64:ff9b:1::1", "forbidden"],
    ["::ffff:127.0.0.1", "private"],
    ["::ffff:7f00:1", "private"],
    ["::ffff:169.254.169.254", "forbidden"],
    ["::ffff:1.1.1.1", "public"],
    ["64:ff9b::a00:1", "private"],
    ["64:ff9b::101:101", "public"],
    ["2002:7f00:1::", "private"],
    ["2002:a9fe:a9fe::1", "forbidden"],
    ["::127.0.0.1", "forbidden"],
    ["1.2.3", "forbidden"],
    ["1.2.3.256", "forbidden"],
    ["1:2:3", "forbidden"],
    ["1::2::3", "forbidden"],
    ["1:2:3:4:5:6:7:8:9", "forbidden"],
    ["example.com", "forbidden"],
  ] as const)("%s is %s", (literal, kind) => {
    expect(addressKind(literal)).toBe(kind);
  });

  test("every IPv4 address has the same kind when it is written as a mapped one", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(addressKind(`::ffff:${address}`)).toBe(addressKind(address));
        expect(isIpAddress(address)).toBe(true);
      }),
    );
  });

  test("every form of an IPv6 address is read", () => {
    fc.assert(fc.property(fc.ipV6(), (address) => expect(isIpAddress(address)).toBe(true)));
  });
});

describe("where a credential may be sent", () => {
  const PUBLIC = ["93.184.216.34"];
  const PRIVATE = "A loopback or private address needs allow_private_network";
  const NOWHERE = "A provider cannot have this address";

  test.each([
    ["https://api.example.com/v1", PUBLIC, false, null],
    ["https://api.example.com:8443/v1", PUBLIC, false, null],
    ["https://api.example.com./v1", PUBLIC, false, null],
    ["https://93.184.216.34/v1", [], false, null],
    ["https://[2606:2800:220:1::1]/v1", [], false, null],
    ["http://api.example.com/v1", PUBLIC, false, "Plain http needs allow_private_network"],
    ["http://api.example.com/v1", PUBLIC, true, null],
    ["https://localhost/v1", ["::1", "127.0.0.1"], false, PRIVATE],
    ["http://localhost/v1", ["::1", "127.0.0.1"], true, null],
    ["https://mixed.example.com", ["93.184.216.34", "10.0.0.1"], false, PRIVATE],
    // What browsers and curl read as 127.0.0.1.
    ["https://127.1/v1", [], false, PRIVATE],
    ["https://0x7f.0.0.1/v1", [], false, PRIVATE],
    ["https://2130706433/v1", [], false, PRIVATE],
    ["https://0177.0.0.1/v1", [], false, PRIVATE],
    ["https://[::ffff:127.0.0.1]/v1", [], false, PRIVATE],
    ["https://①②⑦.0.0.1/v1", [], false, PRIVATE],
    ["https://169.254.169.254/latest", [], true, NOWHERE],
    ["https://168.63.129.16/machine", [], true, NOWHERE],
    ["http://0xa83f8110/machine", [], true, NOWHERE],
    ["https://metadata.tencentyun.com/", PUBLIC, true, NOWHERE],
    ["https://metadata.google.internal/v1", PUBLIC, true, NOWHERE],
    ["https://METADATA.google.internal./v1", PUBLIC, true, NOWHERE],
    ["https://rebound.example.com/v1", ["169.254.169.254"], true, NOWHERE],
    ["https://a:b@api.example.com", PUBLIC, true, "Expected no user name or password"],
    ["https://api.example.com/v1?x", PUBLIC, true, "Expected no query and no fragment"],
    ["https://api.example.com/v1#x", PUBLIC, true, "Expected no query and no fragment"],
    ["https://api.example.com/v1?", PUBLIC, true, "Expected no query and no fragment"],
    ["file:///etc/passwd", [], true, "Expected an http or https address"],
    ["not a url", [], true, "Expected an http or https address"],
    ["", [], true, "Expected an http or https address"],
  ])("%s (resolved %p, private allowed: %p): %p", (url, resolved, allowed, fault) => {
    expect(privateAddressFault(url, resolved, allowed)).toBe(fault);
  });
});

describe("at connection time", () => {
  const guarded = (answers: string[][]) => {
    const clock = movableClock();
    let asked = 0;
    const resolve = async () => {
      const answer = answers[asked++];
      if (!answer) throw new Error("no such host");
      return answer;
    };
    const guard = addressGuard(clock, { resolve });
    return { guard, clock, asked: () => asked };
  };
  const outcome = async (promise: unknown) => {
    try {
      await promise;
      return "passes";
    } catch (error) {
      return error instanceof GatewayError ? error.type : error;
    }
  };

  test("a name that has come to lead inside is refused, though it was right when it was saved", async () => {
    const { guard, clock } = guarded([["93.184.216.34"], ["127.0.0.1"]]);
    expect(await guard.saveFault("https://api.example.com", false)).toBeNull();
    expect(await outcome(guard.resolveOrigin("https://api.example.com", false))).toBe("passes");
    clock.advance(30_001);
    expect(await outcome(guard.resolveOrigin("https://api.example.com", false))).toBe("upstream_unreachable");
  });

  test("the resolver's answer is remembered for half a minute, a literal is not asked for", async () => {
    const { guard, asked } = guarded([["93.184.216.34"]]);
    for (let n = 0; n < 5; n++) await guard.resolveOrigin("https://api.example.com", false);
    await guard.resolveOrigin("https://93.184.216.34", false);
    expect(asked()).toBe(1);
  });

  test("a name that does not resolve is unreachable, and no fault when it is saved", async () => {
    const { guard } = guarded([]);
    expect(await outcome(guard.resolveOrigin("https://gone.example.com", false))).toBe(
      "upstream_unreachable",
    );
    expect(await guard.saveFault("https://gone.example.com", false)).toBeNull();
  });
});
