import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { newId } from "#shared/ids.ts";
import { agentProgram, runAgent } from "#test/support/agents.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Coding agents that call a vendor directly, and export their own metrics to the gateway.

const claude = await agentProgram("claude-code");
const codex = await agentProgram("codex");
const gemini = await agentProgram("gemini-cli");

const PROMPT = "Say the word canary-5d1c-of-the-prompt.";
const USAGE = { input_tokens: 210, output_tokens: 12, prompt_tokens: 210, completion_tokens: 12 };

let vendor: LLMock;
/** Calls of a model that the vendor got. */
let calls = 0;
let door: ReturnType<typeof Bun.serve>;
let gateway: WiredGateway;

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  vendor.on({}, { content: "Done.", usage: USAGE });
  door = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (/\/(?:messages|responses)$/.test(pathname)) calls++;
      return fetch(vendor.url + pathname, {
        method: request.method,
        headers: request.headers,
        body: request.body,
      });
    },
  });
  gateway = await wiredGateway({ chat: vendor.url, messages: vendor.url });
});
afterAll(async () => {
  await door.stop(true);
  await vendor.stop();
});

type Row = { kind: string; metric: string; tokens: string | null; session: string | null; client: string } & {
  user_label: string | null;
  model: string | null;
};

/** A run with the environment and files given, and the points that came of it under a key of its own. */
async function run(
  command: readonly string[],
  { env, files }: Record<"env" | "files", (secret: string) => Record<string, string>>,
) {
  const key = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", { name: newId() });
  const home = await mkdtemp(join(tmpdir(), "agent-"));
  calls = 0;
  try {
    for (const [path, text] of Object.entries(files(key.secret))) await Bun.write(join(home, path), text);
    const result = await runAgent(command, { home, env: env(key.secret) });
    let rows: Row[] = [];
    await until(async () => {
      rows = await gateway.sql<Row[]>`select * from agent_points where key_id = ${key.id} order by ended_at`;
      return rows.some(({ kind }) => kind === "output");
    });
    const tokens = (kind: string) =>
      rows.filter((row) => row.kind === kind).reduce((sum, row) => sum + Number(row.tokens), 0);
    return { ...result, rows, tokens };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

const vendorUrl = () => `http://127.0.0.1:${door.port}`;

describe.skipIf(claude === null)("claude code", () => {
  test("its export is taken as it comes: tokens of its session, and no person out of its installation's id", async () => {
    const it = await run(
      [...(claude ?? []), "-p", PROMPT, "--output-format", "json", "--strict-mcp-config"],
      {
        files: () => ({}),
        env: (secret) => ({
          ANTHROPIC_BASE_URL: vendorUrl(),
          ANTHROPIC_API_KEY: "sk-ant-api03-of-the-vendor",
          DISABLE_AUTOUPDATER: "1",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          CLAUDE_CODE_ENABLE_TELEMETRY: "1",
          OTEL_METRICS_EXPORTER: "otlp",
          OTEL_LOGS_EXPORTER: "otlp",
          OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
          OTEL_EXPORTER_OTLP_ENDPOINT: `${gateway.url}/otel`,
          OTEL_EXPORTER_OTLP_HEADERS: `x-gateway-key=${secret}`,
        }),
      },
    );
    const { session_id, is_error } = JSON.parse(it.stdout);
    expect(is_error).toBe(false);
    expect([it.tokens("input"), it.tokens("output")]).toEqual([210 * calls, 12 * calls]);
    for (const row of it.rows) {
      expect(row).toMatchObject({ client: "claude-code", session: session_id, user_label: null });
    }
  });
});

describe.skipIf(codex === null)("codex", () => {
  test("its export is taken as it comes, and its total is not counted again", async () => {
    const it = await run(
      [...(codex ?? []), "exec", "--json", "--skip-git-repo-check", "-m", "gpt-5", PROMPT],
      {
        env: () => ({ VENDOR_KEY: "sk-of-the-vendor" }),
        files: (secret) => ({
          ".codex/config.toml": `
model_provider = "vendor"
approval_policy = "never"
check_for_update_on_startup = false
[model_providers.vendor]
name = "vendor"
base_url = "${vendorUrl()}/v1"
wire_api = "responses"
env_key = "VENDOR_KEY"
[otel]
metrics_exporter = { otlp-http = { endpoint = "${gateway.url}/otel/v1/metrics", protocol = "json", headers = { "x-gateway-key" = "${secret}" } } }
`,
        }),
      },
    );
    expect([it.tokens("input"), it.tokens("output"), it.tokens("total")]).toEqual([
      210 * calls,
      12 * calls,
      222 * calls,
    ]);
    expect(new Set(it.rows.map(({ client }) => client))).toEqual(new Set(["codex"]));
  });
});

describe.skipIf(gemini === null)("gemini cli", () => {
  test("its thoughts are output, and its cached tokens a part of the input", async () => {
    const usageMetadata = {
      promptTokenCount: 1000,
      cachedContentTokenCount: 600,
      candidatesTokenCount: 12,
      thoughtsTokenCount: 40,
      totalTokenCount: 1052,
    };
    let answers = 0;
    const google = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch() {
        answers++;
        const parts = [{ text: "Done." }];
        const candidates = [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }];
        const event = `data: ${JSON.stringify({ candidates, usageMetadata })}\n\n`;
        return new Response(event, { headers: { "content-type": "text/event-stream" } });
      },
    });
    const settings = { security: { auth: { selectedType: "gemini-api-key" } } };
    const it = await run([...(gemini ?? []), "-p", PROMPT, "-m", "gemini-2.5-pro"], {
      files: () => ({ ".gemini/settings.json": JSON.stringify(settings) }),
      env: (secret) => ({
        GEMINI_API_KEY: "key-of-the-vendor",
        GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${google.port}`,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
        GEMINI_TELEMETRY_ENABLED: "true",
        GEMINI_TELEMETRY_TARGET: "local",
        GEMINI_TELEMETRY_USE_COLLECTOR: "true",
        GEMINI_TELEMETRY_OTLP_PROTOCOL: "http",
        GEMINI_TELEMETRY_OTLP_ENDPOINT: `${gateway.url}/otel`,
        OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "delta",
        OTEL_EXPORTER_OTLP_HEADERS: `x-gateway-key=${secret}`,
      }),
    });
    await google.stop(true);
    expect([it.tokens("input"), it.tokens("cached_input"), it.tokens("output")]).toEqual([
      1000 * answers,
      600 * answers,
      52 * answers,
    ]);
  });
});
