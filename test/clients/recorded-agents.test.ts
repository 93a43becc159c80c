import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { until } from "#test/support/until.ts";
import { type StoredRecord, type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Calls of all six coding agents, recorded by test/bench/agents/record.ts, of a model of their own format and of another:
// test/agents has the agents themselves.

const FIXTURES = join(import.meta.dir, "../fixtures/agents");
const SAID = "The proof is left.";

type Recorded = { path: string; headers: Record<string, string>; body: object; status: number };

let vendor: LLMock;
let gateway: WiredGateway;

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  const usage = { input_tokens: 210, output_tokens: 12, prompt_tokens: 210, completion_tokens: 12 };
  vendor.on({}, { content: SAID, usage });
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PUT", "/providers/google", {
    kind: "gemini",
    base_url: `${vendor.url}/v1beta/openai`,
    credential: "of-the-vendor",
    allow_private_network: true,
    enabled: true,
  });
});

afterAll(async () => {
  await gateway.close();
  await vendor.stop();
});

/** Where each agent calls, and the header or member in which it names its own session; null: it names none. */
const AGENTS = {
  "claude-code": { client: "claude-code", surface: "messages", session: "x-claude-code-session-id" },
  codex: { client: "codex", surface: "responses", session: "session-id" },
  opencode: { client: "opencode", surface: "chat.completions", session: "x-session-affinity" },
  "gemini-cli": { client: "gemini-cli", surface: "generate_content", session: null },
  "qwen-code": { client: "qwen-code", surface: "chat.completions", session: null },
  copilot: { client: "copilot-cli", surface: "chat.completions", session: null },
} as const;

const PROVIDERS: Readonly<Record<string, string>> = {
  "claude-opus-4-6": "messages-vendor",
  "gpt-4o": "chat-vendor",
  "gemini-2.5-pro": "google",
};

type Row = StoredRecord & { surface: string };

/** What was recorded of a key's calls, in their order. */
async function recordsOf(key: string, count: number): Promise<Row[]> {
  let rows: Row[] = [];
  await until(async () => {
    rows = await gateway.sql<Row[]>`select * from requests where key_id = ${key} order by id`;
    return rows.length >= count;
  });
  return rows;
}

test.each(Object.entries(AGENTS))(
  "calls of %s are answered, or refused by name, and recorded with its session, tokens and cost",
  async (name, { client, surface, session }) => {
    const recorded: Record<string, Recorded[]> = await Bun.file(
      join(FIXTURES, `${name}.generated.json`),
    ).json();
    const all = Object.entries(recorded).flatMap(([model, calls]) =>
      calls.map((call) => ({ ...call, model })),
    );
    const key = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", { name });
    for (const { path, headers, body, status } of all) {
      const answer = await fetch(gateway.url + path, {
        method: "POST",
        headers: { ...headers, authorization: `Bearer ${key.secret}` },
        body: JSON.stringify(body),
      });
      expect([answer.status, await answer.text()]).toEqual([status, expect.any(String)]);
    }
    const rows = await recordsOf(key.id, all.length);
    for (const [at, { model, status, headers }] of all.entries()) {
      const answered = { state: "ok", usage_source: "provider", input_tokens: 210, output_tokens: 12 };
      const told = status === 200 ? { ...answered, provider: PROVIDERS[model], model } : { state: "denied" };
      expect(rows[at]).toMatchObject({ client, surface, status, ...told });
      expect(rows[at]?.session ?? null).toBe(session && (headers[session] ?? "none"));
      expect(rows[at]?.unpriced).toBe(false);
    }
  },
);
