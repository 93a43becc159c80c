import { beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Responses that the vendor makes in the background (deep research, pro models), by the vendor's own client.

let vendor: ScriptedUpstream;
let gateway: WiredGateway;
/** What the vendor says of each response. */
const responses = new Map<string, Record<string, unknown>>();

/** What has not been read when a connection breaks may be lost with it: streams break off after this. */
const begunIsSeen = Promise.withResolvers<void>();

const USAGE = { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 };
const end = (id: string, more: object) => responses.set(id, { ...responses.get(id), ...more });

beforeAll(async () => {
  vendor = await scriptedUpstream(async ({ method, path, body }, reply) => {
    const [, id = "", verb] = /^\/v1\/responses\/([^/?]+)(\/cancel)?/.exec(path) ?? [];
    if (method === "POST" && id === "") {
      const made = `resp_${newId()}`;
      const { model, stream } = JSON.parse(body);
      responses.set(made, {
        id: made,
        object: "response",
        status: "queued",
        background: true,
        model,
        output: [],
        usage: null,
      });
      if (!stream) return reply.json(responses.get(made));
      reply.head("text/event-stream");
      const begun = { ...responses.get(made), status: "in_progress" };
      reply.chunk(
        `data: ${JSON.stringify({ type: "response.created", sequence_number: 0, response: begun })}\n\n`,
      );
      const text = { type: "response.output_text.delta", sequence_number: 1, item_id: "m", delta: "Hm" };
      reply.chunk(`data: ${JSON.stringify(text)}\n\n`);
      await begunIsSeen.promise;
      return reply.close();
    }
    if (verb) end(id, { status: "cancelled" });
    const found = responses.get(id);
    if (method === "DELETE") responses.delete(id);
    return found ? reply.json(found) : reply.json({ error: { message: "not found" } }, 404);
  });
  gateway = await wiredGateway(
    { chat: `${vendor.url}/v1`, messages: vendor.url },
    { BATCH_CHECK_SECONDS: "1" },
  );
  for (const [model, price] of [
    ["gpt-pro-x", "1000"],
    ["gpt-silent", "1"],
  ]) {
    const price_ = { input: price, output: price, effective_from: "2026-01-01T00:00:00Z" };
    await gateway.admin("POST", "/prices", { model, ...price_ });
  }
});

const client = (session: string, apiKey = gateway.secret) =>
  new OpenAI({
    apiKey,
    baseURL: `${gateway.url}/v1`,
    maxRetries: 0,
    defaultHeaders: { "x-session-id": session },
  });
const begin = (session: string, apiKey?: string) =>
  client(session, apiKey).responses.create({
    model: "gpt-pro-x",
    input: "Research.",
    background: true,
    max_output_tokens: 1000,
  });
const recordOf = async (session: string) => {
  const rows = await gateway.records(session);
  expect(rows).toHaveLength(1);
  return rows[0];
};

test("the record exists at once without a cost, and the client's fetch that sees the end settles it once", async () => {
  const session = newId();
  const begun = await begin(session);
  expect(begun.status).toBe("queued");
  expect(await recordOf(session)).toMatchObject({
    state: "ok",
    cost_usd: null,
    unpriced: true,
    usage_source: "none",
  });
  expect((await client(session).responses.retrieve(begun.id)).status).toBe("queued");
  end(begun.id, { status: "completed", usage: USAGE, model: "gpt-pro-x" });
  expect((await client(session).responses.retrieve(begun.id)).status).toBe("completed");
  expect(await recordOf(session)).toMatchObject({
    input_tokens: 1000,
    output_tokens: 100,
    unpriced: false,
    usage_source: "provider",
  });
  expect(Number((await recordOf(session))?.cost_usd)).toBe(1.1);
  // What the vendor says later changes nothing.
  end(begun.id, { usage: { ...USAGE, output_tokens: 999 } });
  await client(session).responses.retrieve(begun.id);
  expect(Number((await recordOf(session))?.cost_usd)).toBe(1.1);
});

test.each([
  ["completed", { usage: USAGE }, { state: "ok", unpriced: false }],
  ["incomplete", { usage: USAGE }, { state: "ok", unpriced: false }],
  [
    "failed",
    { error: { code: "server_error", message: "No." } },
    { state: "upstream_error", error_type: "upstream_server_error", unpriced: true },
  ],
  ["cancelled", {}, { state: "ok", unpriced: true }],
])("the gateway itself settles one that is %s and that no client fetches", async (status, more, expected) => {
  const session = newId();
  const { id } = await begin(session);
  await recordOf(session);
  end(id, { status, ...more });
  await until(
    async () =>
      (await gateway.sql`select 1 from requests where session = ${session} and pending is null`).length > 0,
  );
  expect(await recordOf(session)).toMatchObject(expected);
});

test("the gateway settles one whose stream broke off, which the vendor continues", async () => {
  const session = newId();
  const asked = { model: "gpt-pro-x", input: "Research.", background: true, max_output_tokens: 1000 };
  const stream = await client(session).responses.create({ ...asked, stream: true });
  await (async () => {
    for await (const _ of stream) begunIsSeen.resolve();
  })().catch(() => undefined);
  expect(await recordOf(session)).toMatchObject({ state: "upstream_broken", cost_usd: null, unpriced: true });
  end([...responses.keys()].at(-1) ?? "", { status: "completed", usage: USAGE });
  await until(async () => (await recordOf(session))?.cost_usd !== null);
  expect(await recordOf(session)).toMatchObject({
    ...{ state: "upstream_broken", usage_source: "provider" },
    ...{ input_tokens: 1000, output_tokens: 100, unpriced: false, partial: false },
  });
  expect(Number((await recordOf(session))?.cost_usd)).toBe(1.1);
});

test("one that is deleted, or cancelled, is settled by that", async () => {
  const session = newId();
  const { id } = await begin(session);
  await recordOf(session);
  end(id, { status: "completed", usage: USAGE });
  await client(session).responses.delete(id);
  expect(Number((await recordOf(session))?.cost_usd)).toBe(1.1);
});

test("a budget keeps what it may cost until it is settled", async () => {
  const limits = { budget_usd: "2", budget_period: "month" };
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "researcher", limits });
  const session = newId();
  const { id } = await begin(session, secret);
  await recordOf(session);
  // Over 1 of 2 dollars is reserved for it.
  expect(await begin(newId(), secret).catch(({ status }) => status)).toBe(402);
  end(id, { status: "completed", usage: { input_tokens: 10, output_tokens: 10, total_tokens: 20 } });
  await client(session, secret).responses.retrieve(id);
  expect((await begin(newId(), secret)).status).toBe("queued");
});
