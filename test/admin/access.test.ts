import { beforeAll, describe, expect, test } from "bun:test";
import { ADMIN_KEY, type World, world } from "./world.ts";

let it: World;
beforeAll(async () => {
  it = await world();
});
describe("who may use the admin API", () => {
  test("every route of it refuses a request without the admin key, before it reads anything", async () => {
    expect(it.app.routes.length).toBeGreaterThan(25);
    for (const { method, path } of it.app.routes) {
      const concrete = path.replace("/admin/v1", "").replace(/:\w+/, "echo");
      for (const headers of [
        {},
        { authorization: "Bearer wrong" },
        { authorization: `Basic ${ADMIN_KEY}` },
      ]) {
        const answer = await it.raw(concrete, { method, headers });
        expect([method, path, answer.status]).toEqual([method, path, 401]);
        expect(answer.body.error.type).toBe("authentication_error");
      }
    }
  });

  test("a client key is no admin key", async () => {
    const headers = { authorization: `Bearer ${it.firstKey}` };
    expect((await it.raw("/settings", { headers })).status).toBe(401);
  });

  test.each([`Bearer ${ADMIN_KEY}`, `bearer ${ADMIN_KEY}`, ` BEARER  ${ADMIN_KEY} `])(
    "the scheme's case and blanks around the key do not matter: %p",
    async (authorization) => {
      expect((await it.raw("/settings", { headers: { authorization } })).status).toBe(200);
    },
  );

  test("two credentials in one header are none", async () => {
    const headers = { authorization: `Bearer ${ADMIN_KEY}, Bearer ${ADMIN_KEY}` };
    expect((await it.raw("/settings", { headers })).status).toBe(401);
  });

  test("an address that is none is answered 404", async () => {
    expect((await it.call("GET", "/nothing")).status).toBe(404);
  });
});

describe("bodies", () => {
  const send = (body: string | Uint8Array) =>
    it.raw("/settings", {
      method: "PATCH",
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
      body: body as BodyInit,
    });

  test("what is nested too deep is refused before it is parsed", async () => {
    const { status, body } = await send("[".repeat(100_000));
    expect([status, body.error.message]).toEqual([400, "The body is nested deeper than 64 levels."]);
  });

  test.each(["{", "nul", '{"hooks":true}x'])("what is not JSON is refused", async (text) => {
    const answer = await send(text);
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toBe("The body is not JSON.");
  });

  test.each(["[]", '"text"', "1", "null"])("what is not an object is refused: %p", async (text) => {
    expect((await send(text)).status).toBe(400);
  });

  test("bytes that are not UTF-8 are refused", async () => {
    expect((await send(new Uint8Array([0x22, 0xff, 0x22]))).status).toBe(400);
  });

  test("a body over 1 MiB is refused with 413", async () => {
    expect((await send(" ".repeat(1024 * 1024 + 1))).status).toBe(413);
  });

  test("an unknown member is refused by its name, and no value is repeated", async () => {
    const answer = await send('{"hookz":"CANARY-VALUE","hooks":"CANARY-VALUE","__proto__":{"hooks":false}}');
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toContain("/hookz: Unexpected property.");
    expect(answer.body.error.message).toContain("/__proto__: Unexpected property.");
    expect(answer.body.error.message).toContain("/hooks: Expected boolean.");
    expect(answer.text).not.toContain("CANARY");
  });
});

describe("lists", () => {
  test.each([
    ["?limit=0", "limit"],
    ["?limit=501", "limit"],
    ["?limit=x", "limit"],
    ["?limit=1&limit=2", "limit"],
    ["?offset=3", "offset"],
    ["?after=", "after"],
  ])("a parameter that is wrong is refused by its name: %p", async (query, name) => {
    const answer = await it.call("GET", `/providers${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toStartWith(`${name}: `);
  });

  test("pages follow each other without a gap or a double", async () => {
    const seen: string[] = [];
    let after = "";
    for (let pages = 0; pages < 10; pages++) {
      const { body } = await it.call("GET", `/routes?limit=2${after}`);
      seen.push(...body.data.map((route: { name: string }) => route.name));
      expect(body.has_more).toBe(body.next !== null);
      if (body.next === null) break;
      after = `&after=${body.next}`;
    }
    expect(seen).toEqual(["echo", "image_generation", "rerank", "tts"]);
  });
});
