import { callOnce } from "#test/limits/world.ts";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY, type GatewayProcess, startGateway } from "#test/support/gateway-process.ts";
import { startFastGithubApp } from "#test/support/github-app-process.ts";
import { freePort } from "#test/support/ports.ts";
import { scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";

const PRICED = { input: "3", output: "15", effective_from: "2020-01-01T00:00:00Z" };

async function metricsAt(url: string): Promise<string> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  if (!answer.ok) throw new Error(`${url}/metrics: ${answer.status}`);
  return answer.text();
}

/** `/metrics` of a real gateway and a real GitHub App, after everything has happened that gives a metric a label. */
export async function livedIn(): Promise<{ gateway: string; githubApp: string }> {
  const waits = Promise.withResolvers<void>();
  const upstream = await scriptedUpstream(async ({ body }, reply) => {
    const { model, stream } = JSON.parse(body);
    if (model === "waits") return waits.resolve();
    if (model === "fails") return reply.json({ error: { message: "later" } }, 503);
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 100_000, total_tokens: 1_100_000 };
    const message = { role: "assistant", content: "done" };
    if (stream) {
      reply.head("text/event-stream");
      reply.chunk(`data: ${JSON.stringify({ id: "c", model, choices: [{ index: 0, delta: message }] })}\n\n`);
      return reply.end();
    }
    reply.json({ id: "c", object: "chat.completion", model, choices: [{ index: 0, message }], usage });
  });
  // With ClickHouse, which is away: rows wait for it.
  const env = { CLICKHOUSE_URL: `http://127.0.0.1:${freePort()}` };
  const gateway = await startGateway({ dataDir: scratch().path, env });
  const { admin } = gateway;
  const provider = { kind: "openai-compatible", base_url: `${upstream.url}/v1`, allow_private_network: true };
  await admin("PUT", "/providers/vendor", { ...provider, models: ["priced", "fails"] });
  await admin("PUT", "/providers/narrow", { ...provider, models: ["waits"], in_flight_max: 1 });
  await admin("POST", "/prices", { model: "priced", ...PRICED });
  await admin("PUT", "/teams/web", { budget_usd: "100", unpriced: "allow" });
  await admin("PUT", "/guardrails/stop", { match: { pattern: "forbidden words" } });
  const limits = { budget_usd: "50", budget_period: "day", unpriced: "allow" };
  const { secret } = await admin<{ secret: string }>("POST", "/keys", { name: "ada", team: "web", limits });
  await calls(gateway, secret, waits.promise);
  const metrics = await until(async () => {
    const text = await metricsAt(gateway.url);
    return text.includes("tallygate_budget_used_usd{") ? text : null;
  });
  return { gateway: metrics, githubApp: await githubAppMetrics(gateway.databaseUrl) };
}

async function calls({ url }: GatewayProcess, secret: string, waits: Promise<void>): Promise<void> {
  await callOnce(url, secret, { model: "priced", maxTokens: 10 });
  for (const _ of [1, 2, 3, 4]) await callOnce(url, secret, { model: "fails" });
  await callOnce(url, secret, { model: "priced", maxTokens: 10, content: "forbidden words" });
  await callOnce(url, "tg_no-key", { model: "priced" });
  await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: "priced", max_tokens: 10, stream: true, messages: [] }),
  }).then((answer) => answer.text());
  const gone = new AbortController();
  const held = callOnce(url, secret, { model: "waits", maxTokens: 10, signal: gone.signal });
  await waits;
  await callOnce(url, secret, { model: "waits", maxTokens: 10 });
  gone.abort();
  await held.catch(() => undefined);
}

async function githubAppMetrics(databaseUrl: string): Promise<string> {
  const app = await startFastGithubApp({
    DATABASE_URL: databaseUrl,
    ADMIN_KEY,
    MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    WEBHOOK_SECRET: "a secret of more than sixteen characters",
  });
  await fetch(app.webhooks, { method: "POST", body: "{}" });
  return metricsAt(app.url);
}
