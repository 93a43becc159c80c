import { beforeAll, expect, test } from "bun:test";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";

type Operation = { security?: Record<string, unknown>[] };
type Document = { paths: Record<string, Record<string, Operation>> };

let second: LocalGateway;
let secret: string;
let operations: { method: string; path: string; security: string[] }[];

beforeAll(async () => {
  // A framework that keeps a route's checks in an object of the module would ask the first one.
  await localGateway({
    dataDir: scratch().path,
    env: { ADMIN_KEY: "tga_of-the-first-gateway-0000000000000" },
  });
  second = await localGateway({ dataDir: scratch().path });
  ({ secret } = await second.admin<{ secret: string }>("POST", "/keys", { name: "second" }));
  const document: Document = await (await fetch(`${second.url}/openapi/json`)).json();
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security = [] }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{[^}]+\}/g, "none"),
      security: security.flatMap(Object.keys),
    })),
  );
});

const asked = (scheme: string) => operations.filter(({ security }) => security.includes(scheme));

async function refused(scheme: string, credential: string): Promise<string[]> {
  const found: string[] = [];
  for (const { method, path } of asked(scheme)) {
    const answer = await fetch(second.url + path, {
      method,
      headers: { authorization: `Bearer ${credential}`, "x-gateway-key": credential },
      ...(method === "GET" ? {} : { body: "" }),
    });
    await answer.text();
    if (answer.status === 401) found.push(`${method} ${path}`);
  }
  return found;
}

test("of two gateways in one process, each knows its own client keys at every address", async () => {
  expect(asked("clientKey").length).toBeGreaterThan(40);
  expect(await refused("clientKey", secret)).toEqual([]);
});

test("of two gateways in one process, each knows its administrator at every address", async () => {
  expect(asked("adminKey").length).toBeGreaterThan(60);
  expect(await refused("adminKey", ADMIN_KEY)).toEqual([]);
});
