import { beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { until } from "#test/support/until.ts";
import { fault, sha256Hex, type World, world } from "./world.ts";

let it: World;
beforeAll(async () => {
  it = await world();
});
const make = async (body: object) => (await it.call("POST", "/keys", body)).body;
const owns = async (secret: string) => (await it.directory.keyOf(sha256Hex(secret)))?.name ?? null;

describe("client keys", () => {
  test("a new key works at once, and its secret is shown in that one answer only", async () => {
    const answer = await it.call("POST", "/keys", { name: "ci", owner: "ada" });
    expect(answer.status).toBe(201);
    const { secret, ...view } = answer.body;
    expect(secret).toMatch(/^tg_[0-9A-Za-z]{43}$/);
    expect(view).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "ci",
      owner: "ada",
      team: null,
      own: false,
      service: false,
      scopes: {},
      limits: null,
      status: "active",
      secrets: [{ last_four: secret.slice(-4), created_at: expect.any(String), expires_at: null }],
      expires_at: null,
      revoked_at: null,
      created_at: expect.any(String),
    });
    expect(it.directory.keyOf(sha256Hex(secret))).toMatchObject({ name: "ci", owner: "ada" });
    expect((await it.call("GET", `/keys/${view.id}`)).body).toEqual(view);
    const later = [
      await it.call("GET", "/keys"),
      await it.call("PATCH", `/keys/${view.id}`, { owner: "ada" }),
    ];
    expect(later.map(({ text }) => text).join()).not.toContain(secret);
  });

  test("the database holds the digest and four characters of a secret, and not the secret", async () => {
    const { secret } = await make({ name: "hidden" });
    const rows = await it.database.db.execute(sql`
      select k::text as key, s::text as secret, encode(s.sha256, 'hex') as digest
      from keys k join key_secrets s on s.key_id = k.id`);
    expect(JSON.stringify(rows)).not.toContain(secret.slice(3, 20));
    expect(rows.map((row) => row["digest"])).toContain(sha256Hex(secret));
  });

  test("scopes, limits and expiry are stored exactly", async () => {
    const scopes = {
      routes: ["echo"],
      models: ["gpt-5"],
      mcp: ["files", "web__fetch page__x"],
      reports: true,
    };
    const limits = {
      requests_per_minute: 60,
      tokens_per_minute: 100000,
      concurrency: 4,
      budget_usd: "12.000000000000000001",
      budget_period: "day",
    };
    const { id } = await make({ name: "narrow", scopes, limits, expires_at: "2030-01-01T01:00:00+01:00" });
    const view = (await it.call("GET", `/keys/${id}`)).body;
    expect(view).toMatchObject({ scopes, limits, expires_at: "2030-01-01T00:00:00.000Z", status: "active" });
  });

  test.each([
    "Files",
    "my_server",
    "files__",
    "__read",
    "files_read",
    `${"a".repeat(25)}`,
    "files__a\nb",
    "",
  ])("an entry of the mcp scope that could never allow anything is refused: %j", async (entry) => {
    const scopes = { mcp: ["files", entry] };
    const said = await fault(it.call("POST", "/keys", { name: "wrong", scopes }));
    expect(said).toBe(
      "400 /scopes/mcp/1: Expected the name of a tool server (1 to 24 of a-z, 0-9 and -), or one of its tools as server__tool.",
    );
  });

  test("a budget given as a number is its decimal, and has a period", async () => {
    const { limits } = await make({ name: "budget", limits: { budget_usd: 0.1 } });
    expect(limits).toEqual({ budget_usd: "0.1", budget_period: "month" });
  });

  test("PATCH changes what it names, and null takes away", async () => {
    const { id } = await make({
      name: "patched",
      owner: "ada",
      limits: { concurrency: 2 },
      expires_at: "2030-01-01",
    });
    const changed = await it.call("PATCH", `/keys/${id}`, { name: "renamed", scopes: { models: ["m"] } });
    expect(changed.body).toMatchObject({ name: "renamed", owner: "ada", scopes: { models: ["m"] } });
    expect(changed.body.limits).toEqual({ concurrency: 2 });
    const cleared = await it.call("PATCH", `/keys/${id}`, { owner: null, limits: null, expires_at: null });
    expect(cleared.body).toMatchObject({
      owner: null,
      limits: null,
      expires_at: null,
      scopes: { models: ["m"] },
    });
  });

  test("names are unique, of revoked keys too, and a rename keeps to that", async () => {
    const { id } = await make({ name: "once" });
    await it.call("DELETE", `/keys/${id}`);
    expect(await fault(it.call("POST", "/keys", { name: "once" }))).toBe(
      "422 The name is taken. Choose another.",
    );
    const other = await make({ name: "other" });
    expect((await it.call("PATCH", `/keys/${other.id}`, { name: "once" })).status).toBe(422);
  });

  test("an expired key is refused at once, and shown as expired", async () => {
    const { secret, status } = await make({ name: "over", expires_at: "2020-01-01T00:00:00Z" });
    expect(status).toBe("expired");
    expect(await owns(secret)).toBeNull();
  });

  test.each([
    [{}, "/name: Expected required property"],
    [{ name: "" }, "/name: Expected text of 1 to 128 characters"],
    [{ name: "a\nb" }, "/name: Expected text of 1 to 128 characters, none of them a control character"],
    [{ name: "x", secret: "tg_mine" }, "/secret: Unexpected property"],
    [{ name: "x", scopes: { route: ["echo"] } }, "/scopes/route: Unexpected property"],
    [{ name: "x", scopes: { routes: "echo" } }, "/scopes/routes: Expected array"],
    [{ name: "x", limits: { budget: 1 } }, "/limits/budget: Unexpected property"],
    [{ name: "x", limits: { budget_usd: -1 } }, "/limits/budget_usd: Expected a decimal number, 0 or more"],
    [{ name: "x", limits: { budget_period: "day" } }, "/limits/budget_period: Expected only with budget_usd"],
    [{ name: "x", limits: { when_away: "refuse" } }, "/limits/when_away: Expected only with a limit"],
    [
      { name: "x", limits: { concurrency: 0 } },
      "/limits/concurrency: Expected integer to be greater or equal",
    ],
    [{ name: "x", expires_at: "tomorrow" }, "/expires_at: Expected an RFC 3339 date-time or a date"],
    [{ name: "x", expires_at: "2026-02-30" }, "/expires_at: Expected an RFC 3339 date-time or a date"],
  ])("a body that is wrong is refused by the member: %p", async (body, message) => {
    expect(await fault(it.call("POST", "/keys", body))).toStartWith(`400 ${message}`);
  });

  test.each(["nothing", "00000000-0000-7000-8000-000000000000"])("the id %p is of no key", async (id) => {
    const answers = await Promise.all([
      it.call("GET", `/keys/${id}`),
      it.call("PATCH", `/keys/${id}`, {}),
      it.call("DELETE", `/keys/${id}`),
      it.call("POST", `/keys/${id}/rotate`, {}),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });

  test("the list is newest first, and its pages follow each other", async () => {
    const all = (await it.call("GET", "/keys?limit=500")).body.data.map((key: { name: string }) => key.name);
    expect(all.at(-1)).toBe("first");
    const first = (await it.call("GET", "/keys?limit=3")).body;
    const second = (await it.call("GET", `/keys?limit=3&after=${first.next}`)).body;
    expect([...first.data, ...second.data].map((key) => key.name)).toEqual(all.slice(0, 6));
    expect(await fault(it.call("GET", "/keys?after=x"))).toStartWith("400 after: ");
  });
});

describe("rotation and revocation", () => {
  test("both secrets are valid until the grace ends, under one id", async () => {
    const key = await make({ name: "rotated" });
    const answer = await it.call("POST", `/keys/${key.id}/rotate`, { grace_seconds: 5 });
    expect(answer.status).toBe(200);
    expect(answer.body.id).toBe(key.id);
    expect(answer.body.secrets).toHaveLength(2);
    expect([await owns(key.secret), await owns(answer.body.secret)]).toEqual(["rotated", "rotated"]);
    await until(async () => (await owns(key.secret)) === null);
    expect(await owns(answer.body.secret)).toBe("rotated");
    expect((await it.call("GET", `/keys/${key.id}`)).body.secrets).toHaveLength(1);
  });

  test("without grace the old secret ends at once", async () => {
    const key = await make({ name: "hasty" });
    const { secret } = (await it.call("POST", `/keys/${key.id}/rotate`)).body;
    expect([await owns(key.secret), await owns(secret)]).toEqual([null, "hasty"]);
  });

  test("a second rotation does not lengthen an earlier grace", async () => {
    const key = await make({ name: "again" });
    const first = (await it.call("POST", `/keys/${key.id}/rotate`, { grace_seconds: 60 })).body;
    const second = (await it.call("POST", `/keys/${key.id}/rotate`, { grace_seconds: 3600 })).body;
    const ends = Object.fromEntries(
      second.secrets.map((one: { last_four: string; expires_at: string }) => [one.last_four, one.expires_at]),
    );
    const inMs = (secret: string) => Date.parse(ends[secret.slice(-4)]) - Date.now();
    expect(inMs(key.secret)).toBeLessThan(61_000);
    expect(inMs(first.secret)).toBeGreaterThan(3_500_000);
    expect(ends[second.secret.slice(-4)]).toBeNull();
  });

  test.each([{ grace_seconds: -1 }, { grace_seconds: 604_801 }, { grace: 1 }, { grace_seconds: "1" }])(
    "a grace that is wrong is refused: %p",
    async (body) => {
      const { id } = await make({ name: `grace ${JSON.stringify(body)}` });
      expect((await it.call("POST", `/keys/${id}/rotate`, body)).status).toBe(400);
    },
  );

  test("a revoked key is refused at once, stays listed, and cannot come back", async () => {
    const { id, secret } = await make({ name: "revoked" });
    expect((await it.call("DELETE", `/keys/${id}`)).status).toBe(204);
    expect(await owns(secret)).toBeNull();
    expect((await it.call("GET", `/keys/${id}`)).body).toMatchObject({ status: "revoked", secrets: [] });
    expect(await fault(it.call("POST", `/keys/${id}/rotate`, {}))).toStartWith("422 The key is revoked");
    const { revoked_at } = (await it.call("GET", `/keys/${id}`)).body;
    expect((await it.call("DELETE", `/keys/${id}`)).status).toBe(204);
    expect((await it.call("GET", `/keys/${id}`)).body.revoked_at).toBe(revoked_at);
  });
});
