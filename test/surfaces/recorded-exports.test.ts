import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { MeasureName, Result } from "#shared/report.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// What the agents themselves sent, recorded by test/bench/otlp/record.ts: each made one answer of 210 tokens in, 12 out.

const FIXTURES = join(import.meta.dir, "../fixtures/otlp");
const NOWHERE = "http://127.0.0.1:9";
let gateway: WiredGateway;

beforeAll(async () => {
  gateway = await wiredGateway({ chat: NOWHERE, messages: NOWHERE });
  for (const [model, input, output] of [
    ["claude-opus-5-5", "5", "25"],
    ["gpt-5", "2", "10"],
    ["gemini-2.5-pro", "1", "4"],
  ]) {
    await gateway.admin("POST", "/prices", { model, effective_from: "2026-01-01", input, output });
  }
});
type Export = { resourceMetrics: unknown[] };

/** The recording as if its last point were of now: the receiver takes nothing that is older than 30 days. */
async function recorded(name: string): Promise<Export[]> {
  const text = await Bun.file(join(FIXTURES, `${name}.generated.json`)).text();
  const times = [...text.matchAll(/UnixNano":"?(\d{19})"?/g)].map(([, nanos = ""]) => nanos);
  const shift = BigInt(Date.now()) * 1_000_000n - BigInt(times.toSorted().at(-1) ?? 0);
  const moved = text.replace(
    /(UnixNano":"?)(\d{19})/g,
    (_, word, nanos) => `${word}${BigInt(nanos) + shift}`,
  );
  return JSON.parse(moved) as Export[];
}

async function send(body: Export) {
  const answer = await fetch(`${gateway.url}/otel/v1/metrics`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-key": gateway.secret },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  const { partialSuccess } = (await answer.json()) as { partialSuccess: { errorMessage: string } };
  return partialSuccess;
}

const MEASURES: MeasureName[] = [
  "operations",
  "input_tokens",
  "output_tokens",
  "total_tokens",
  "cached_tokens",
  "estimated_cost_usd",
  "users",
  "sessions",
];

async function figures(client: string) {
  const spec = {
    source: "agent_metrics",
    dimensions: [],
    filters: { client: [client] },
    range: { from: null, to: new Date(Date.now() + 1000).toISOString() },
    compare: "none",
    view: "table",
    measures: MEASURES,
  };
  const answer = await fetch(`${gateway.url}/v1/reports/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    body: JSON.stringify({ spec }),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as Result).total.current;
}

const ONE_ANSWER = { input_tokens: 210, output_tokens: 12, total_tokens: 222, cached_tokens: 0, users: 0 };

test.each([
  // 210 × 5 + 12 × 25 = 1,350 per million; its own cost, sessions and activity are kept and not added.
  {
    name: "claude-code",
    client: "claude-code",
    figures: { ...ONE_ANSWER, operations: 0, estimated_cost_usd: 0.00135, sessions: 1 },
    refused: null,
  },
  // 210 × 2 + 12 × 10 = 540 per million; it names no session.
  {
    name: "codex",
    client: "codex",
    figures: { ...ONE_ANSWER, operations: 0, estimated_cost_usd: 0.00054, sessions: 0 },
    refused: "codex.api_request",
  },
  // 210 × 1 + 12 × 4 = 258 per million.
  {
    name: "gemini-cli",
    client: "gemini-cli",
    figures: { ...ONE_ANSWER, operations: 1, estimated_cost_usd: 0.000258, sessions: 1 },
    refused: "gemini_cli.token.usage",
  },
])("$name: its export gives the figures of its answer, also when it is sent again", async (it) => {
  const bodies = await recorded(it.name);
  const first = await Promise.all(bodies.map(send));
  const once = await figures(it.client);
  expect(once).toEqual(it.figures as never);
  if (it.refused) expect(first.map(({ errorMessage }) => errorMessage).join()).toContain(it.refused);
  else expect(first.map(({ errorMessage }) => errorMessage).join("")).toBe("");
  expect(await Promise.all([...bodies, ...bodies].map(send))).toEqual([...first, ...first]);
  expect(await figures(it.client)).toEqual(once as never);
});

test("gemini-cli with its own temporality is refused by name, and nothing of it is stored", async () => {
  const before = await figures("gemini-cli");
  const [told] = await Promise.all((await recorded("gemini-cli-cumulative")).map(send));
  for (const name of ["gen_ai.client.token.usage", "gen_ai.client.operation.duration"]) {
    expect(told?.errorMessage).toContain(`${name} has cumulative temporality; only delta is accepted`);
  }
  expect(await figures("gemini-cli")).toEqual(before);
});

test("a session that also went through the gateway says so, with both costs beside each other", async () => {
  const list = (query: string) =>
    gateway.admin<{ data: Record<string, unknown>[]; next: string | null }>(
      "GET",
      `/agent-sessions?${query}`,
    );
  const all = (await list("")).data;
  expect(all.map(({ client, also_proxied }) => [client, also_proxied]).toSorted()).toEqual([
    ["claude-code", false],
    ["gemini-cli", false],
  ]);
  const claude = all.find(({ client }) => client === "claude-code");
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.secret}`, "x-session-id": String(claude?.["session"]) },
    body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "hello" }] }),
  });
  expect(answer.status).toBe(200);
  expect((await list("also_proxied=true")).data).toMatchObject([
    {
      session: claude?.["session"],
      total_tokens: 222,
      estimated_cost_usd: "0.00135",
      estimate_is_lower_bound: false,
      also_proxied: true,
      gateway_requests: 1,
      gateway_cost_usd: expect.stringMatching(/^0\.\d+$/),
    },
  ]);
  expect((await list("also_proxied=false")).data.map(({ client }) => client)).toEqual(["gemini-cli"]);
  const first = await list("limit=1");
  const second = await list(`limit=1&after=${encodeURIComponent(first.next ?? "")}`);
  expect([...first.data, ...second.data].map(({ session }) => session)).toEqual(
    all.map(({ session }) => session),
  );
  expect(second.next).toBeNull();
});
