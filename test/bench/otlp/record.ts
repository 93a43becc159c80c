/**
 * `bun test/bench/otlp/record.ts`: runs the coding agents against a vendor on loopback, with their own metrics exported
 * to a recorder on loopback, and writes what they sent to test/fixtures/otlp, one file for each agent, its exports in
 * the order in which they came. Values of attributes that could tell of a person or a machine are replaced.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { type AgentName, agentProgram, runAgent } from "#test/support/agents.ts";
import { scrubber } from "./scrub.ts";

const FIXTURES = join(import.meta.dir, "../../fixtures/otlp");
const PROMPT = "Say done.";
/** Of every answer, whoever asks. */
const USAGE = {
  ...{ input_tokens: 210, output_tokens: 12, prompt_tokens: 210, completion_tokens: 12 },
  ...{ promptTokenCount: 210, candidatesTokenCount: 12, totalTokenCount: 222 },
};

const vendor = await LLMock.create({ port: 0 });
vendor.on({}, { content: "Done.", usage: USAGE });

let exports: { path: string; type: string | null; body: string }[] = [];
const recorder = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  maxRequestBodySize: 64 * 1024 * 1024,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const zipped = request.headers.get("content-encoding") === "gzip";
    const bytes = await request.bytes();
    const body = new TextDecoder().decode(zipped ? Bun.gunzipSync(bytes) : bytes);
    exports.push({ path: pathname, type: request.headers.get("content-type"), body });
    return Response.json({});
  },
});
const recorderUrl = `http://127.0.0.1:${recorder.port}`;

type Way = {
  /** Where the file is not named for the agent. */
  agent?: AgentName;
  words: string[];
  env: Record<string, string>;
  files?: Record<string, string>;
};

const GEMINI: Way = {
  agent: "gemini-cli",
  words: ["-p", PROMPT, "-m", "gemini-2.5-pro"],
  env: {
    GEMINI_API_KEY: "key-of-the-vendor",
    GOOGLE_GEMINI_BASE_URL: vendor.url,
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    GEMINI_TELEMETRY_ENABLED: "true",
    GEMINI_TELEMETRY_TARGET: "local",
    GEMINI_TELEMETRY_USE_COLLECTOR: "true",
    GEMINI_TELEMETRY_OTLP_PROTOCOL: "http",
    GEMINI_TELEMETRY_OTLP_ENDPOINT: recorderUrl,
  },
  files: {
    ".gemini/settings.json": JSON.stringify({ security: { auth: { selectedType: "gemini-api-key" } } }),
  },
};

const WAYS: Record<string, Way> = {
  "claude-code": {
    words: ["-p", PROMPT, "--output-format", "json", "--strict-mcp-config"],
    env: {
      ANTHROPIC_BASE_URL: vendor.url,
      ANTHROPIC_API_KEY: "sk-ant-api03-of-the-vendor",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_ENABLE_TELEMETRY: "1",
      OTEL_METRICS_EXPORTER: "otlp",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: recorderUrl,
    },
  },
  codex: {
    words: ["exec", "--json", "--skip-git-repo-check", "-m", "gpt-5", PROMPT],
    env: { VENDOR_KEY: "sk-of-the-vendor" },
    files: {
      ".codex/config.toml": `
model_provider = "vendor"
approval_policy = "never"
check_for_update_on_startup = false
[model_providers.vendor]
name = "vendor"
base_url = "${vendor.url}/v1"
wire_api = "responses"
env_key = "VENDOR_KEY"
[otel]
metrics_exporter = { otlp-http = { endpoint = "${recorderUrl}/v1/metrics", protocol = "json" } }
`,
    },
  },
  "gemini-cli": {
    ...GEMINI,
    env: { ...GEMINI.env, OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "delta" },
  },
  // Its own default.
  "gemini-cli-cumulative": GEMINI,
};

for (const [name, { agent = name as AgentName, words, env, files = {} }] of Object.entries(WAYS)) {
  const wanted = process.argv.slice(2);
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const program = await agentProgram(agent);
  if (program === null) continue;
  const home = await mkdtemp(join(tmpdir(), "agent-"));
  exports = [];
  try {
    for (const [path, text] of Object.entries(files)) await Bun.write(join(home, path), text);
    const { status, stdout, stderr } = await runAgent([...program, ...words], { home, env });
    const metrics = exports.filter(({ path }) => path.endsWith("/metrics"));
    const scrub = scrubber();
    const bodies = metrics.map(({ body }) => scrub(JSON.parse(body)));
    const seen = exports.map(({ path, type, body }) => `${path} ${type} ${body.length}`);
    console.log(`${name}: status ${status}, ${seen.join(", ")}`);
    if (bodies.length === 0) console.log(stdout.slice(-800), stderr.slice(-2000));
    else await Bun.write(join(FIXTURES, `${name}.generated.json`), `${JSON.stringify(bodies)}\n`);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
await recorder.stop(true);
await vendor.stop();
process.exit(0);
