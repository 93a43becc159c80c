import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { newId } from "#shared/ids.ts";
import { priceCent } from "#test/limits/cent-vendor.ts";
import { atEnd } from "#test/support/at-end.ts";
import { localGateway } from "#test/support/local-gateway.ts";
import { type StrictClaude, strictClaude } from "#test/support/strict-claude.ts";
import { type StrictOpenAi, strictOpenAi } from "#test/support/strict-openai.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway, wiredProcess } from "#test/support/wired-gateway.ts";

// OpenAI's responses over a WebSocket, by its own client: at OpenAI, and at vendors that have no WebSocket.

let vendor: StrictOpenAi;
let claude: StrictClaude;
let gateway: WiredGateway;

beforeAll(async () => {
  vendor = strictOpenAi();
  claude = strictClaude();
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: claude.url });
});
beforeEach(() => {
  vendor.forget();
  Object.assign(vendor.sockets, { served: true, delayMs: 0 });
});

type Event = OpenAI.Responses.ResponsesServerEvent & { stream_id?: string };
type Create = Omit<OpenAI.Responses.ResponseCreateParams, "stream"> & {
  stream_id?: string;
  generate?: boolean;
};

/** A connection of OpenAI's client, and its session. */
async function connect(headers: Record<string, string> = {}, secret = gateway.secret, url = gateway.url) {
  const session = newId();
  const client = new OpenAI({ apiKey: secret, baseURL: `${url}/v1` });
  const socket = new ResponsesWS(client, { headers: { "x-session-id": session, ...headers } });
  const events: Event[] = [];
  const raw: string[] = [];
  socket.on("event", (event) => events.push(event as Event));
  socket.socket.platformSocket.on("message", (data) => raw.push(String(data)));
  socket.on("error", () => undefined);
  atEnd(() => socket.close());
  const isLast = ({ type }: Event) => /^(response\.(completed|failed|incomplete)|error)$/.test(type);
  return {
    session,
    socket,
    raw,
    events,
    send: (asked: Create) => socket.send({ type: "response.create", ...asked } as never),
    /** The last event of one response. */
    async ask(asked: Create): Promise<Event & { response: OpenAI.Responses.Response }> {
      const from = events.length;
      this.send(asked);
      await until(() => events.slice(from).some(isLast));
      return events.slice(from).find(isLast) as never;
    },
  };
}

const PARAMETERS = { type: "object", properties: {} };
const TOOLS = [{ type: "function" as const, name: "weather", parameters: PARAMETERS, strict: false }];
const outputsOf = ({ output }: OpenAI.Responses.Response): OpenAI.Responses.ResponseInput =>
  output.flatMap((item) =>
    item.type === "function_call"
      ? [{ type: "function_call_output" as const, call_id: item.call_id, output: "rain" }]
      : [],
  );

/** A question, its parallel calls, and the answer, each with only what is new. */
async function turns(it: Awaited<ReturnType<typeof connect>>, model: string): Promise<string> {
  const common = { model, store: false, tools: TOOLS, include: ["reasoning.encrypted_content" as const] };
  const { response } = await it.ask({ ...common, input: "Weather?" });
  expect(outputsOf(response)).toHaveLength(2);
  const next = await it.ask({ ...common, previous_response_id: response.id, input: outputsOf(response) });
  expect(next.type).toBe("response.completed");
  return JSON.stringify(next.response.output);
}

test("passes on to a vendor that has it, byte for byte, and each response is one record with its cost", async () => {
  const it = await connect({
    "x-client": "my-agent",
    "x-tags": "nightly",
    "openai-beta": "responses_websockets=2026-02-06",
  });
  expect(await turns(it, "gpt-5.6-terra")).toContain("It rains.");
  expect(it.raw).toEqual(vendor.sent);
  expect(vendor.messages.map(({ type, stream }) => [type, stream])).toEqual(
    Array(2).fill(["response.create", undefined]),
  );
  expect(vendor.messages[1]?.["input"]).toHaveLength(2);
  expect([vendor.paths, vendor.handshakes.length, vendor.refused]).toEqual([[], 1, []]);
  const [shaken] = vendor.handshakes;
  expect(shaken?.get("authorization")).toBe("Bearer vendor-credential-of-the-suite");
  expect([...(shaken?.keys() ?? [])].filter((name) => name.startsWith("x-"))).toEqual([]);
  expect(shaken?.get("openai-beta")).toBe("responses_websockets=2026-02-06");
  expect(await gateway.records(it.session, 2)).toMatchObject(
    Array(2).fill({
      state: "ok",
      client: "my-agent",
      tags: ["nightly"],
      streamed: true,
      input_tokens: 10,
      output_tokens: 5,
      unpriced: false,
    }),
  );
});

test("the handshake has the provider's own headers, and a new one is made once they change", async () => {
  for (const tenant of ["first", "second"]) {
    await gateway.admin("PATCH", "/providers/chat-vendor", { headers: { "x-tenant": tenant } });
    const it = await connect();
    await it.ask({ model: "gpt-5.6-terra", store: false, input: "Hi" });
    if (tenant === "first") {
      await gateway.admin("PATCH", "/providers/chat-vendor", { headers: { "x-tenant": "changed" } });
      await it.ask({ model: "gpt-5.6-terra", store: false, input: "Hi" });
    }
  }
  await gateway.admin("PATCH", "/providers/chat-vendor", { headers: {} });
  expect(vendor.handshakes.map((headers) => headers.get("x-tenant"))).toEqual(["first", "changed", "second"]);
});

test("is served where the vendor's handshake is refused", async () => {
  vendor.sockets.served = false;
  const it = await connect();
  expect(await turns(it, "gpt-5.6-terra")).toContain("It rains.");
  expect([vendor.paths, vendor.refused, vendor.returned]).toEqual([
    ["/v1/responses", "/v1/responses"],
    [],
    [0, 1],
  ]);
  expect(await gateway.records(it.session, 2)).toHaveLength(2);
});

test("is served at a model of another format, which gets the whole conversation", async () => {
  claude.play(({ messages }) =>
    messages.length > 1
      ? [{ text: "It rains." }]
      : ["a", "b"].map((id) => ({ call: "weather", id: `toolu_${id}`, input: {} })),
  );
  const it = await connect();
  expect(await turns(it, "claude-opus-4-6")).toContain("It rains.");
  expect([claude.refused, claude.seen[1]?.messages.length]).toEqual([[], 3]);
  expect(await gateway.records(it.session, 2)).toMatchObject(
    Array(2).fill({ input_tokens: 21, output_tokens: 8, unpriced: false }),
  );
});

test("a conversation moves on to another vendor on the same connection", async () => {
  claude.play(() => [{ text: "Moved." }]);
  const it = await connect();
  const { response } = await it.ask({ model: "gpt-5.6-terra", store: false, input: "Remember 42." });
  const moved = {
    model: "claude-opus-4-6",
    store: false,
    previous_response_id: response.id,
    input: "Which?",
  };
  expect((await it.ask(moved)).type).toBe("response.completed");
  expect(JSON.stringify(claude.seen.at(-1)?.messages)).toContain("Remember 42.");
});

test("a warm-up costs nothing, and its items are there for the request that continues it", async () => {
  const it = await connect();
  const { response } = await it.ask({
    model: "gpt-5.6-terra",
    store: false,
    input: "Draw.",
    generate: false,
  });
  expect([response.output, vendor.messages]).toEqual([[], []]);
  await it.ask({ model: "gpt-5.6-terra", store: false, previous_response_id: response.id, input: "Now." });
  expect(vendor.messages[0]).toMatchObject({ input: [{ content: "Draw." }, { content: "Now." }] });
  expect(await gateway.records(it.session, 1)).toHaveLength(1);
});

test("lanes run at once, their events name them, and the requests of one lane are answered in turn", async () => {
  vendor.sockets.delayMs = 50;
  for (const model of ["gpt-5.6-terra", "claude-opus-4-6"]) {
    claude.play(() => [{ text: "Done." }]);
    const it = await connect();
    for (const stream_id of ["a", "b", "a"]) it.send({ model, store: false, input: "Hi", stream_id });
    const ended = () => it.events.filter(({ type }) => type === "response.completed");
    await until(() => ended().length === 3);
    expect(
      ended()
        .map((event) => event.stream_id)
        .toSorted(),
    ).toEqual(["a", "a", "b"]);
    expect(it.events.every((event) => event.stream_id !== undefined)).toBe(true);
    expect(await gateway.records(it.session, 3)).toHaveLength(3);
  }
});

describe("a refusal is an event, and the connection stays:", () => {
  const hi: Create = { model: "gpt-5.6-terra", store: false, input: "launch code" };
  const errorOf = async (it: Awaited<ReturnType<typeof connect>>, asked: Create = hi) =>
    (await it.ask(asked)) as never as {
      status: number;
      error: { type: string; code: string; message: string };
    };

  test("of a guardrail, and of a limit of the key", async () => {
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", {
      name: newId(),
      limits: { requests_per_minute: 1 },
    });
    const it = await connect({}, secret);
    const rule = { match: { pattern: "launch code" }, mode: "enforce", action: "block" };
    await gateway.admin("PUT", "/guardrails/codes", rule);
    expect(await errorOf(it)).toMatchObject({ status: 403, error: { type: "guardrail_blocked" } });
    await gateway.admin("DELETE", "/guardrails/codes");
    expect((await it.ask(hi)).type).toBe("response.completed");
    expect(await errorOf(it)).toMatchObject({ status: 429, error: { type: "rate_limit_error" } });
    const records = await gateway.records(it.session, 3);
    expect(records.map(({ status }) => status).toSorted()).toEqual([200, 403, 429]);
  });

  test("of a used-up budget, which each response reserves while it runs", async () => {
    await priceCent(gateway, "gpt-cent");
    const key = { name: newId(), limits: { budget_usd: "0.02" } };
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", key);
    vendor.sockets.delayMs = 2000;
    const it = await connect({}, secret);
    const asked = { ...hi, model: "gpt-cent", max_output_tokens: 16 };
    // The two that run may cost all of it, so the third is refused before they end.
    for (const stream_id of ["a", "b", "c"]) it.send({ ...asked, stream_id });
    await until(() => it.events.some(({ type }) => type === "error"));
    expect(it.events.at(-1)).toMatchObject({
      ...{ type: "error", status: 429, headers: { "retry-after": "1" } },
      error: { message: "The rest of the budget is reserved for running calls." },
    });
    await until(() => it.events.filter(({ type }) => type === "response.completed").length === 2);
    expect(await errorOf(it, asked)).toMatchObject({
      ...{ status: 402, headers: { "x-should-retry": "false" } },
      error: { type: "billing_error", code: "insufficient_quota" },
    });
    const records = await gateway.records(it.session, 4);
    expect(records.map(({ status, cost_usd }) => [status, Number(cost_usd)]).toSorted()).toEqual([
      ...[
        [200, 0.01],
        [200, 0.01],
        [402, 0],
        [429, 0],
      ],
    ]);
  });

  test.each(["gpt-5.6-terra", "claude-opus-4-6"])(
    "of a response that is not known, with the code at which clients send all again, at %s",
    async (model) => {
      claude.play(() => [{ text: "Hi." }]);
      const it = await connect();
      const lost = await errorOf(it, { ...hi, model, previous_response_id: "resp_unknown" });
      expect(lost).toMatchObject({ status: 400, error: { code: "previous_response_not_found" } });
      expect((await it.ask({ ...hi, model })).type).toBe("response.completed");
    },
  );

  test("of a model that does not exist, of another event, and of what is no JSON", async () => {
    const it = await connect();
    expect(await errorOf(it, { ...hi, model: "no-such" })).toMatchObject({
      status: 404,
      error: { code: "model_not_found" },
    });
    for (const sent of ['{"type":"session.update"}', "{"]) {
      const from = it.events.length;
      it.socket.sendRaw(sent);
      await until(() => it.events.length > from);
      expect(it.events.at(-1)).toMatchObject({ type: "error", status: 400 });
    }
  });

  test("of a key that was revoked meanwhile", async () => {
    const { id, secret } = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", {
      name: newId(),
    });
    const it = await connect({}, secret);
    expect((await it.ask(hi)).type).toBe("response.completed");
    await gateway.admin("DELETE", `/keys/${id}`);
    expect(await errorOf(it)).toMatchObject({ status: 401 });
  });
});

test("a client that leaves in the midst of a response is recorded once, with the vendor's own figures", async () => {
  vendor.sockets.delayMs = 200;
  const it = await connect();
  it.send({ model: "gpt-5.6-terra", store: false, input: "Hi" });
  await until(() => vendor.messages.length === 1);
  it.socket.close();
  const records = await gateway.records(it.session, 1);
  expect(records).toMatchObject([{ state: "client_gone", input_tokens: 10, output_tokens: 5 }]);
  // What a later call leaves is stored later: by then a second record would be there.
  const later = await connect();
  await later.ask({ model: "gpt-5.6-terra", store: false, input: "Hi" });
  await gateway.records(later.session, 1);
  expect(await gateway.records(it.session, 1)).toHaveLength(1);
});

test("a gateway that stops closes idle connections, and others once their response has ended", async () => {
  vendor.sockets.delayMs = 300;
  const upstream = { chat: `${vendor.url}/v1`, messages: claude.url };
  const other = await wiredGateway(upstream, { DRAIN_SECONDS_MAX: "300" });
  const [idle, busy] = [
    await connect({}, other.secret, other.url),
    await connect({}, other.secret, other.url),
  ];
  busy.send({ model: "gpt-5.6-terra", store: false, input: "Hi" });
  await until(() => vendor.messages.length === 1);
  const [, records] = await Promise.all([other.stop(), other.records(busy.session, 1)]);
  expect(records).toMatchObject([{ state: "ok", input_tokens: 10 }]);
  await until(() => busy.events.at(-1)?.type === "response.completed");
  await until(() => idle.socket.socket.platformSocket.readyState === 3);
});

test("a gateway that is killed during a response records it once", async () => {
  vendor.sockets.delayMs = 60_000;
  const killed = await wiredProcess({ chat: `${vendor.url}/v1`, messages: claude.url });
  const it = await connect({}, killed.secret, killed.url);
  it.send({ model: "gpt-5.6-terra", store: false, input: "Hi" });
  await until(() => vendor.messages.length === 1);
  await killed.kill();
  const { dataDir, databaseUrl } = killed;
  const again = await localGateway({ dataDir, databaseUrl });
  expect(await killed.records(it.session, 1)).toMatchObject([{ state: "interrupted" }]);
  await again.stop();
  expect(await killed.records(it.session, 1)).toHaveLength(1);
});

test("a request without an upgrade is 426, and one without a key 401, at once", async () => {
  const get = (headers: Record<string, string>) => fetch(`${gateway.url}/v1/responses`, { headers });
  const plain = await get({ authorization: `Bearer ${gateway.secret}` });
  expect([plain.status, plain.headers.get("upgrade"), plain.headers.get("x-should-retry")]).toEqual([
    426,
    "websocket",
    "false",
  ]);
  const upgrade = {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  expect((await get(upgrade)).status).toBe(401);
});
