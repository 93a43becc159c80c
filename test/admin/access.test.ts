import { beforeAll, describe, expect, test } from "bun:test";
import { parseLabel } from "#shared/labels.ts";
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

describe("values that two readers could read differently", () => {
  test.each([
    '{"hooks":true,"hooks":false}',
    '{"sign_in":{"allowed_domains":[],"allowed_domains":["example.com"]}}',
    '{"ho\\u006fks":true,"hooks":false}',
    '{"__proto__":{},"__proto__":{}}',
  ])("a name that appears twice in one object is refused: %p", async (body) => {
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const answer = await it.raw("/settings", { method: "PATCH", headers, body });
    expect([answer.status, answer.body.error.message]).toEqual([
      400,
      "A name appears twice in one object of the body.",
    ]);
  });

  test.each(["\u202e", "\u2028", "\u2066", "\u0085"])(
    "a name cannot change the text beside it: %p",
    async (sign) => {
      const answer = await it.call("POST", "/keys", { name: `to${sign}day` });
      expect(answer.body.error.message).toContain(
        "/name: Expected text of 1 to 128 characters, none of them a control character.",
      );
    },
  );

  test.each(["\u200b", "\u202e", "\u00ad"])(
    "an e-mail has no character that no one sees: %p",
    async (sign) => {
      const answer = await it.call("POST", "/people", { email: `ada${sign}@example.com` });
      expect(answer.body.error.message).toBe("/email: Expected an e-mail address of at most 128 characters.");
    },
  );

  test("nor a label of a call, which is dropped whole", () => {
    expect(["a\u202eb", "a\u2029b", "a\u2069b", "שלום\u200f"].map((text) => parseLabel(text, 64))).toEqual([
      null,
      null,
      null,
      "שלום\u200f",
    ]);
  });
});

describe("instants", () => {
  test("a time that is after the year 9999 only by its offset is refused by its member", async () => {
    const expires_at = "9999-12-31T23:59:59-00:01";
    const answer = await it.call("POST", "/keys", { name: "late", expires_at });
    expect([answer.status, answer.body.error.message]).toEqual([
      400,
      "/expires_at: Expected an RFC 3339 date-time or a date.",
    ]);
    expect((await it.call("POST", "/keys", { name: "last", expires_at: "9999-12-31" })).status).toBe(201);
  });

  test("the last day of all ends a window", async () => {
    expect((await it.call("GET", "/audit?to=9999-12-31")).status).toBe(200);
  });
});

describe("names in addresses", () => {
  test("one that Postgres cannot have is answered 400 by every route of the API", async () => {
    const routes = it.app.routes.filter(({ path }) => path.includes(":"));
    expect(routes.length).toBeGreaterThan(50);
    for (const { method, path } of routes) {
      const address = path.replace("/admin/v1", "").replaceAll(/:\w+/g, "%00");
      const { status } = await it.call(method, address, method === "GET" ? undefined : {});
      expect([method, path, status >= 400 && status < 500]).toEqual([method, path, true]);
    }
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
