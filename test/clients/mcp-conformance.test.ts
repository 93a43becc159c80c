import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { conformance, differences, keyDoor } from "#test/support/tool-server/conformance.ts";
import { startToolServer, type TestToolServer } from "#test/support/tool-server/server.ts";

// The protocol's own suite, against a server directly and through the gateway.

const place = scratch();
let server: TestToolServer;
let gateway: LocalGateway;
let door: ReturnType<typeof keyDoor>;

beforeAll(async () => {
  server = startToolServer();
  gateway = await localGateway({ dataDir: `${place.path}/gateway` });
  await gateway.admin("POST", "/mcp-servers", {
    name: "all",
    url: server.url,
    allow_private_network: true,
  });
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "suite" });
  door = keyDoor(gateway.url, "/mcp/all", secret);
});

afterAll(async () => {
  await door.stop();
});

describe.each(["2025-11-25", "2026-07-28"])("the conformance suite of revision %s", (revision) => {
  test("ends through the gateway as it ends without it", async () => {
    const [direct, through] = [
      await conformance(server.url, revision),
      await conformance(door.url, revision),
    ];
    expect(direct.size).toBeGreaterThan(40);
    const found = differences(direct, through);
    console.log(`${revision}: ${direct.size} checks, differences: ${JSON.stringify(found, null, 1)}`);
    expect(found.filter((it) => !it.startsWith("dns-rebinding-protection/"))).toEqual([]);
  });
});
