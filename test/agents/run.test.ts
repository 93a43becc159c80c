import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { agentProgram } from "#test/support/agents.ts";
import { type Developer, developer } from "#test/support/checkout.ts";
import { startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// `tallygate run` with agents as they are published, where their own settings or login would lead their calls elsewhere.

const claude = await agentProgram("claude-code");
const codex = await agentProgram("codex");

const continued = await agentProgram("continue");

const FINAL = "Done.";
const OWN = "sk-ant-oat01-the-developer's-own";
const OPENAI_OWN = "sk-the-developer's-own";

const github = startFakeGithub();
github.story.addRepository("octo-org/shop");
let vendor: LLMock;
let door: ReturnType<typeof Bun.serve>;
let presented: Set<string | null>;
let gateway: WiredGateway;
let ada: Developer;
let session: string;

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  vendor.on({}, { content: FINAL, usage: { input_tokens: 21, output_tokens: 3 } });
  door = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch(request) {
      presented.add(request.headers.get("authorization") ?? request.headers.get("x-api-key"));
      return fetch(vendor.url + new URL(request.url).pathname, {
        method: request.method,
        headers: request.headers,
        body: request.body,
      });
    },
  });
  const url = `http://127.0.0.1:${door.port}`;
  gateway = await wiredGateway({ chat: `${url}/v1`, messages: url });
  await gateway.admin("PUT", "/routes/coding", { surface: "chat", provider: "chat-vendor", model: "gpt-4o" });
});

afterAll(async () => {
  await door.stop(true);
  await vendor.stop();
  github.stop();
});

beforeEach(async () => {
  presented = new Set();
  await lane(false);
  ada = await developer(github, "octo-org/shop");
  await ada.git("checkout", "--quiet", "-b", "task");
  session = (await ada.tallygate(["session"])).out.trim();
});

const lane = (open: boolean) =>
  Promise.all(
    ["messages-vendor", "chat-vendor"].map((name) =>
      gateway.admin("PATCH", `/providers/${name}`, {
        trusted_for_passthrough: open,
        subscription_passthrough: open,
      }),
    ),
  );

const tallygate = (words: readonly string[], env: Record<string, string> = {}) =>
  ada.tallygate(words, {
    TALLYGATE_URL: gateway.url,
    TALLYGATE_KEY: gateway.secret,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    API_TIMEOUT_MS: "20000",
    NO_PROXY: "127.0.0.1,localhost",
    ...env,
  });

const PROMPT = ["-p", "Say that it is done.", "--strict-mcp-config", "--model", "claude"];

async function recorded() {
  let rows: { channel: string; tags: string[] }[] = [];
  await until(async () => {
    rows = await gateway.sql<typeof rows>`select channel, tags from requests where session = ${session}`;
    return rows.length > 0;
  });
  return rows;
}

describe.skipIf(claude === null)("Claude Code", () => {
  const settings = (env: Record<string, string>) =>
    Bun.write(join(ada.home, ".claude/settings.json"), JSON.stringify({ env }));
  beforeEach(() => ada.addProgram("claude", claude ?? []));

  test("whose own settings set headers carries the session, and its headers too", async () => {
    await settings({ ANTHROPIC_CUSTOM_HEADERS: "x-tags: shop\nx-session-id: gs_former" });
    const { code, out, error } = await tallygate(["run", "--", "claude", ...PROMPT]);
    expect([code, out], error).toEqual([0, expect.stringContaining(FINAL)]);
    expect((await recorded()).every(({ tags }) => tags.includes("shop"))).toBe(true);
  });

  test("that exports its own metrics is known to have called through the gateway", async () => {
    const { code, error } = await tallygate(["run", "--", "claude", ...PROMPT], {
      CLAUDE_CODE_ENABLE_TELEMETRY: "1",
      OTEL_METRICS_EXPORTER: "otlp",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${gateway.url}/otel/v1/metrics`,
      OTEL_EXPORTER_OTLP_HEADERS: `x-gateway-key=${gateway.secret}`,
    });
    expect(code, error).toBe(0);
    const calls = (await recorded()).length;
    const listed = async (query: string) =>
      (await gateway.admin<{ data: object[] }>("GET", `/agent-sessions?client=claude-code${query}`)).data;
    await until(async () => (await listed("")).length > 0);
    for (const query of ["", "&also_proxied=true"]) {
      expect(await listed(query)).toMatchObject([{ also_proxied: true, gateway_requests: calls }]);
    }
    expect(await listed("&also_proxied=false")).toEqual([]);
  });

  test("with --settings of its user keeps these", async () => {
    const given = JSON.stringify({ env: { ANTHROPIC_CUSTOM_HEADERS: "x-tags: given" } });
    const { code, error } = await tallygate(["run", "--", "claude", "--settings", given, ...PROMPT]);
    expect(code, error).toBe(0);
    expect((await recorded()).every(({ tags }) => tags.includes("given"))).toBe(true);
  });

  test("with --subscription pays by its own login where the lane is open, and is refused where it is not", async () => {
    const words = ["run", "--subscription", "--", "claude", ...PROMPT];
    const closed = await tallygate(words, { CLAUDE_CODE_OAUTH_TOKEN: OWN });
    expect(closed.code).not.toBe(0);
    expect(closed.out + closed.error).toContain("subscription_passthrough is off");
    expect(presented).toEqual(new Set());
    await lane(true);
    const open = await tallygate(words, { CLAUDE_CODE_OAUTH_TOKEN: OWN });
    expect([open.code, open.out], open.error).toEqual([0, expect.stringContaining(FINAL)]);
    expect(presented).toEqual(new Set([`Bearer ${OWN}`]));
    expect(new Set((await recorded()).map(({ channel }) => channel))).toEqual(new Set(["subscription"]));
  });
});

describe.skipIf(codex === null)("Codex", () => {
  test("names the session at the tool gateway too, but not at other tool servers", async () => {
    ada.addProgram("codex", codex ?? []);
    const servers = { tallygate: `${gateway.url}/mcp`, other: "https://tools.example.com/mcp" };
    const config = Object.entries(servers).map(([name, url]) => `[mcp_servers.${name}]\nurl = "${url}"\n`);
    await Bun.write(join(ada.home, ".codex/config.toml"), config.join(""));
    const headersOf = async (name: string) => {
      const { out, error } = await tallygate(["run", "--", "codex", "mcp", "get", name, "--json"]);
      expect(out, error).toContain("transport");
      return JSON.parse(out).transport.env_http_headers;
    };
    expect(await headersOf("tallygate")).toEqual({ "x-session-id": "GATEWAY_SESSION_ID" });
    expect(await headersOf("other")).toBeNull();
  });

  const words = [
    ...["run", "--subscription", "--", "codex", "exec", "--skip-git-repo-check"],
    ...["-m", "coding", "-c", "features.multi_agent=false", "-c", 'web_search="disabled"', "Say it."],
  ];

  test("with --subscription pays by its own login where the lane is open, and is refused where it is not", async () => {
    ada.addProgram("codex", codex ?? []);
    const login = { auth_mode: "apikey", OPENAI_API_KEY: OPENAI_OWN };
    await Bun.write(join(ada.home, ".codex/auth.json"), JSON.stringify(login));
    const closed = await tallygate(words);
    expect(closed.out + closed.error).toContain("subscription_passthrough is off");
    expect(presented).toEqual(new Set());
    await lane(true);
    const open = await tallygate(words);
    expect([open.code, open.out], open.error).toEqual([0, expect.stringContaining(FINAL)]);
    expect(presented).toEqual(new Set([`Bearer ${OPENAI_OWN}`]));
    expect(new Set((await recorded()).map(({ channel }) => channel))).toEqual(new Set(["subscription"]));
  });
});

describe.skipIf(continued === null)("Continue", () => {
  test("carries the session and its name, with its own headers", async () => {
    ada.addProgram("cn", continued ?? []);
    const model = {
      ...{
        name: "coding",
        provider: "openai",
        model: "coding",
        apiBase: `${gateway.url}/v1`,
        apiKey: gateway.secret,
      },
      requestOptions: { headers: { "x-tags": "shop" } },
    };
    const config = { name: "own", version: "1.0.0", schema: "v1", models: [model] };
    await Bun.write(join(ada.home, ".continue/config.yaml"), JSON.stringify(config));
    const { code, error } = await tallygate(["run", "--", "cn", "-p", "Say that it is done."], {
      CONTINUE_TELEMETRY_ENABLED: "0",
      HTTPS_PROXY: "http://127.0.0.1:9",
    });
    expect(code, error).toBe(0);
    expect((await recorded()).every(({ tags }) => tags.includes("shop"))).toBe(true);
    const clients = await gateway.sql`select distinct client from requests where session = ${session}`;
    expect([...clients]).toEqual([{ client: "continue" }]);
  });
});
