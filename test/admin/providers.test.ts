import { beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { sealStoredHeaders } from "#gateway/stores/providers.ts";
import { createSealer } from "#gateway/stores/seal.ts";
import { fault, type World, world } from "./world.ts";

const CANARY = "sk-CANARY-0123456789";

let it: World;
beforeAll(async () => {
  it = await world({ providerKeys: { OPENAI_API_KEY: CANARY } });
  it.resolves("models.example", "93.184.216.34");
  it.resolves("inside.example", "93.184.216.34", "10.1.2.3");
});
const put = (name: string, body: object) => it.call("PUT", `/providers/${name}`, body);

describe("providers are made and changed", () => {
  test("PUT makes one with defaults, and makes it again with the same outcome", async () => {
    const body = { kind: "openai-compatible", base_url: "https://models.example/v1/" };
    const made = await put("own", body);
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      name: "own",
      kind: "openai-compatible",
      base_url: "https://models.example/v1",
      credential_source: "none",
      credential_count: 0,
      health: [],
      learned_wires: [],
      headers: {},
      models: null,
      responses: true,
      trusted_for_passthrough: false,
      subscription_passthrough: false,
      subscription_models: [],
      allow_private_network: false,
      default_for: [],
      stream_options: null,
      location: null,
      runs_in: null,
      first_byte_seconds: null,
      idle_seconds: null,
      in_flight_max: null,
      pass_through: null,
      enabled: true,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const again = await put("own", { name: "own", ...body });
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...made.body, updated_at: expect.any(String) });
    expect((await it.call("GET", "/providers/own")).body).toEqual(again.body);
  });

  test("a change is in force in this process before it is answered", async () => {
    await put("live", { kind: "ollama", base_url: "http://127.0.0.1:11434", allow_private_network: true });
    expect(it.directory.current().providers.get("live")?.baseUrl).toBe("http://127.0.0.1:11434");
    await it.call("PATCH", "/providers/live", { enabled: false, models: ["llama*"] });
    expect(it.directory.current().providers.get("live")).toMatchObject({
      enabled: false,
      models: ["llama*"],
      baseUrl: "http://127.0.0.1:11434",
    });
    expect((await it.call("DELETE", "/providers/live")).status).toBe(204);
    expect(it.directory.current().providers.has("live")).toBe(false);
    expect((await it.call("DELETE", "/providers/live")).status).toBe(404);
    expect((await it.call("GET", "/providers/live")).status).toBe(404);
    expect((await it.call("PATCH", "/providers/live", {})).status).toBe(404);
  });

  test("POST refuses a name that is taken", async () => {
    const body = { name: "twice", kind: "groq" };
    expect((await it.call("POST", "/providers", body)).status).toBe(201);
    expect(await fault(it.call("POST", "/providers", body))).toBe("422 The name is taken. Choose another.");
  });

  test("PUT puts back what it leaves out, PATCH keeps it", async () => {
    await put("reset", { kind: "groq", models: ["a"], enabled: false, headers: { "x-title": "one" } });
    expect((await it.call("PATCH", "/providers/reset", { enabled: true })).body).toMatchObject({
      models: ["a"],
      headers: { "x-title": "one" },
    });
    expect((await put("reset", { kind: "groq" })).body).toMatchObject({
      models: null,
      headers: {},
      enabled: true,
    });
  });

  test.each([
    [{ kind: "nobody" }, "/kind: Expected one of openai, anthropic"],
    [{}, "/kind: Expected required property"],
    [{ kind: "groq", hosts: 1 }, "/hosts: Unexpected property"],
    [{ kind: "groq", name: "other" }, "/name: Expected the name in the address"],
    [{ kind: "azure" }, "/base_url: A provider of kind azure needs a base_url"],
    [
      { kind: "groq", headers: { authorization: "Bearer x" } },
      "/headers/authorization: This header is set by",
    ],
    [
      { kind: "groq", headers: { "X-Api-Key": "x" } },
      "/headers/X-Api-Key: This header is set by the gateway",
    ],
    [
      { kind: "groq", headers: { "x-a": "one\r\nx-b: two" } },
      "/headers/x-a: Expected one line of at most 2048 printable ASCII characters.",
    ],
    [{ kind: "groq", headers: { "bad name": "x" } }, "/headers/bad name: Unexpected property"],
    [{ kind: "groq", credential: "" }, "/credential: Expected 1 to 8192 printable ASCII characters"],
    [
      { kind: "groq", credential: "gsk_\u200b1" },
      "/credential: Expected 1 to 8192 printable ASCII characters",
    ],
  ])("a body that is wrong is refused by the member: %p", async (body, message) => {
    expect(await fault(put("wrong", body))).toStartWith(`400 ${message}`);
  });

  test.each(["Upper", "-dash", "a".repeat(65), "a%2Fb", "a%20b"])("%p is no name", async (name) => {
    expect(await fault(put(name, { kind: "groq" }))).toStartWith("400 /name: ");
  });

  test("a provider that a route uses cannot be deleted, also as a fallback, and the answer names the routes", async () => {
    await put("needed", { kind: "groq" });
    await it.call("PUT", "/routes/uses-it", { surface: "chat", provider: "needed", model: "m" });
    await it.call("PUT", "/routes/falls-back", {
      surface: "chat",
      provider: "echo",
      model: "m",
      fallbacks: [{ provider: "needed", model: "m" }],
    });
    expect(await fault(it.call("DELETE", "/providers/needed"))).toBe(
      "422 The provider needed is used by: falls-back, uses-it.",
    );
  });
});

describe("where a provider may live", () => {
  test.each([
    ["http://models.example/v1", false, "Plain http needs allow_private_network"],
    ["https://127.0.0.1/v1", false, "A loopback or private address needs allow_private_network"],
    ["https://inside.example/v1", false, "A loopback or private address needs allow_private_network"],
    ["https://169.254.169.254/v1", true, "A provider cannot have this address"],
    ["https://user:secret@models.example/v1", true, "Expected no user name or password"],
    ["https://models.example/v1?key=1", true, "Expected no query and no fragment"],
    ["ftp://models.example/v1", true, "Expected an http or https address"],
  ])("%p (private network: %p) is refused", async (base_url, allow_private_network, message) => {
    const body = { kind: "openai-compatible", base_url, allow_private_network };
    expect(await fault(put("place", body))).toBe(`400 /base_url: ${message}.`);
  });

  test("a private address is accepted where the administrator allows it", async () => {
    const body = {
      kind: "openai-compatible",
      base_url: "http://inside.example:8000/v1",
      allow_private_network: true,
    };
    expect((await put("place", body)).status).toBe(201);
    expect(await fault(it.call("PATCH", "/providers/place", { allow_private_network: false }))).toStartWith(
      "400 ",
    );
  });

  test("a host that does not resolve now can be saved: calls check again", async () => {
    expect((await put("later", { kind: "vllm", base_url: "https://not-yet.example" })).status).toBe(201);
  });
});

describe("credentials", () => {
  const source = async (name: string) => (await it.call("GET", `/providers/${name}`)).body.credential_source;

  test("a credential is stored sealed, opened for the call, and never shown", async () => {
    const answers = [
      await put("sealed", { kind: "groq", credential: CANARY }),
      await it.call("GET", "/providers/sealed"),
      await it.call("GET", "/providers"),
      await it.call("PATCH", "/providers/sealed", { enabled: true }),
    ];
    expect(answers.map(({ text }) => text).join()).not.toContain(CANARY);
    expect(await source("sealed")).toBe("stored");
    const { credential } = it.directory.current().providers.get("sealed") ?? {};
    expect(credential?.reveal()).toBe(CANARY);
    expect(Bun.inspect(it.directory.current().providers)).not.toContain(CANARY);
    expect(JSON.stringify([...it.directory.current().providers])).not.toContain(CANARY);
  });

  test("a header is stored sealed and shown by its end, which keeps it; the log and the audit log have no more", async () => {
    const headers = {
      "CF-AIG-Authorization": `Bearer ${CANARY}`,
      "x-short": "CANARY",
      "openai-organization": "org-1",
    };
    const shown = { "CF-AIG-Authorization": "…6789", "x-short": "…", "openai-organization": "org-1" };
    const body = { kind: "openai-compatible", base_url: "https://models.example/h1" };
    expect((await put("headed", { ...body, headers })).body.headers).toEqual(shown);
    const inUse = () =>
      Object.entries(it.directory.current().providers.get("headed")?.headers ?? {})
        .map(([name, value]) => `${name}: ${value.reveal()}`)
        .sort();
    const sent = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .sort();
    expect(inUse()).toEqual(sent);
    for (const method of ["PATCH", "PUT"]) {
      const more = { ...shown, "x-title": "new" };
      const answer = await it.call(method, "/providers/headed", {
        ...(method === "PUT" && body),
        headers: more,
      });
      expect(answer.body.headers).toEqual(more);
      expect(inUse()).toEqual([...sent, "x-title: new"]);
    }
    expect(
      await fault(it.call("PATCH", "/providers/headed", { headers: { "cf-aig-authorization": "…6789" } })),
    ).toBe("400 /headers/cf-aig-authorization: Send the whole value.");
    // Like the credential, they do not go to another address.
    const moved = { base_url: "https://models.example/h2", headers: shown };
    expect(await fault(it.call("PATCH", "/providers/headed", moved))).toStartWith(
      "400 /headers/CF-AIG-Authorization: ",
    );
    await it.call("PATCH", "/providers/headed", { base_url: moved.base_url });
    expect(inUse()).toEqual(["openai-organization: org-1", "x-title: new"]);
    const { text } = await it.call("GET", "/audit?subject=headed");
    expect(text).toContain("…6789");
    expect(text).not.toContain("CANARY");
  });

  test("a header that an older gateway stored is used, and sealed at the next start", async () => {
    await put("older", { kind: "groq" });
    const headers = { "x-secret": CANARY, "x-title": "shown" };
    await it.database
      .sql`update providers set headers = ${JSON.stringify(headers)}::text::jsonb where name = 'older'`;
    await it.directory.refresh();
    expect((await it.call("GET", "/providers/older")).body.headers).toEqual({
      "x-secret": "…6789",
      "x-title": "shown",
    });
    await sealStoredHeaders(it.database, createSealer(new Uint8Array(32).fill(7)));
    await it.directory.refresh();
    expect(it.directory.current().providers.get("older")?.headers["x-secret"]?.reveal()).toBe(CANARY);
  });

  test("no table, no log line and no other answer holds it", async () => {
    const tables = await it.database.db.execute<{ name: string }>(
      sql`select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'drizzle')`,
    );
    expect(tables.length).toBeGreaterThan(10);
    for (const { name } of tables) {
      const rows = await it.database.db.execute(sql.raw(`select t::text as row from ${name} t`));
      expect(JSON.stringify(rows)).not.toContain("CANARY");
    }
    expect(it.log.lines.join()).not.toContain("CANARY");
  });

  test("a new address takes the credential away, unless one is sent along", async () => {
    const body = { kind: "openai-compatible", base_url: "https://models.example/v1", credential: CANARY };
    await put("moving", body);
    await it.call("PATCH", "/providers/moving", { base_url: "https://models.example/v1/" });
    expect(await source("moving")).toBe("stored");
    await it.call("PATCH", "/providers/moving", { base_url: "https://models.example/v2" });
    expect(await source("moving")).toBe("none");
    await it.call("PATCH", "/providers/moving", {
      base_url: "https://models.example/v3",
      credential: CANARY,
    });
    expect(await source("moving")).toBe("stored");
    await put("moving", { kind: "openai-compatible", base_url: "https://models.example/v3" });
    expect(await source("moving")).toBe("stored");
    await put("moving", { kind: "openai-compatible", base_url: "https://models.example/v4" });
    expect(await source("moving")).toBe("none");
  });

  test("a change of kind that changes the address takes it away too", async () => {
    await put("kindly", { kind: "groq", credential: CANARY });
    await put("kindly", { kind: "mistral" });
    expect(await source("kindly")).toBe("none");
  });

  test("null takes it away", async () => {
    await put("gone", { kind: "groq", credential: CANARY });
    await it.call("PATCH", "/providers/gone", { credential: null });
    expect(await source("gone")).toBe("none");
    expect(it.directory.current().providers.get("gone")?.credential).toBeNull();
  });

  test("the environment's credential serves the provider named like its kind, at the vendor's own address only", async () => {
    expect(await source("openai")).toBe("environment");
    const inUse = () => it.directory.current().providers.get("openai")?.credential?.reveal();
    expect(inUse()).toBe(CANARY);
    await it.call("PATCH", "/providers/openai", { base_url: "https://models.example/v1" });
    expect(inUse()).toBeUndefined();
    expect(await source("openai")).toBe("none");
    await it.call("PATCH", "/providers/openai", { base_url: null, credential: "an administrator's" });
    expect(inUse()).toBe("an administrator's");
    // Nor by a test of one that is not stored.
    const body = { name: "openai", kind: "openai", base_url: "https://models.example/v1" };
    const tested = await it.call("POST", "/providers/test", body);
    expect(tested.body).toMatchObject({ ok: false, status: null, models: [] });
    await put("second", { kind: "openai" });
    expect(it.directory.current().providers.get("second")?.credential).toBeNull();
  });
});
