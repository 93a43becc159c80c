import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { type BatchVendor, batchVendor } from "#test/support/batch-vendor.ts";
import { scratch } from "#test/support/embedded.ts";
import { localGateway } from "#test/support/local-gateway.ts";
import { freePort } from "#test/support/ports.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

let vendor: BatchVendor;
let gateway: WiredGateway;
let openai: OpenAI;
let anthropic: Anthropic;
let keyId: string;

beforeAll(async () => {
  vendor = batchVendor();
  gateway = await wiredGateway(
    { chat: `${vendor.url}/v1`, messages: vendor.url },
    { BATCH_CHECK_SECONDS: "1" },
  );
  for (const model of ["gpt-4o", "claude-opus-4-6"]) {
    await gateway.admin("POST", "/prices", { model, effective_from: "2020-01-01", input: "2", output: "10" });
  }
  openai = client(gateway.secret);
  anthropic = new Anthropic({ authToken: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
  const keys = await gateway.admin<{ data: { id: string; name: string }[] }>("GET", "/keys");
  keyId = keys.data.find(({ name }) => name === "suite")?.id ?? "";
});
beforeEach(() => {
  vendor.seen.length = 0;
});

const client = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
const newKey = async (scopes: object) =>
  (await gateway.admin<{ secret: string }>("POST", "/keys", { name: newId(), scopes })).secret;

const line = (model: string | null, more = "") =>
  `{"custom_id":"c","method":"POST","url":"/v1/chat/completions","body":{${model === null ? "" : `"model":"${model}",`}"seed":12345678901234567890,"messages":[]${more}}}`;
const jsonl = (lines: string[]) =>
  new File([lines.join("\n")], "requests.jsonl", { type: "application/jsonl" });
const upload = (lines: string[], it = openai) => it.files.create({ file: jsonl(lines), purpose: "batch" });

type WithGateway = {
  gateway: { cost_usd: string | null; reconciled_at: string | null; basis: string; floor: boolean };
};

async function started(lines: string[], session: string, it = openai) {
  const { id } = await upload(lines, it);
  return it.batches.create(
    { input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" },
    { headers: { "x-session-id": session, "x-tags": "nightly" } },
  );
}

/** The answer of a call that is refused. */
const refused = async (call: Promise<unknown>) =>
  call.then(
    () => ({ status: 200, message: "" }),
    (error) => ({ status: error.status as number, message: String(error.message) }),
  );

describe("a file of requests", () => {
  test("goes up with routes' names resolved and every other byte as it was", async () => {
    const { id, filename } = await upload([line("chat", ',"route":"chat"'), "", line("gpt-4o")]);
    expect(filename).toBe("requests.jsonl");
    expect(vendor.files.get(id)?.content).toBe([line("gpt-4o"), "", line("gpt-4o")].join("\n"));
  });

  test("may be large: it is streamed, and still resolved", async () => {
    const filler = "x".repeat(20_000);
    const lines = Array.from({ length: 300 }, () => line("chat", `,"user":"${filler}"`));
    const { id } = await upload(lines);
    expect(vendor.files.get(id)?.content).toBe(
      lines.join("\n").replaceAll('"model":"chat"', '"model":"gpt-4o"'),
    );
  });

  test.each([
    ["a model outside the key's scope", [line("gpt-4o"), line("gpt-4o-mini")], 403, "Line 2"],
    ["an unknown model", [line("nobody-has-it")], 404, "Line 1"],
    [
      "another address",
      [line("gpt-4o"), line("gpt-4o").replace("chat/completions", "completions")],
      400,
      "Line 2",
    ],
    ["two bodies", [line("gpt-4o").replace("{", '{"body":{"model":"gpt-other"},')], 400, "Line 1"],
    ["no JSON", [line("gpt-4o"), "{"], 400, "Line 2"],
    ["nothing", [""], 400, "no requests"],
  ])("with %s is refused, and the provider never has a whole file", async (_, lines, status, words) => {
    const scoped = client(await newKey({ models: ["gpt-4o"] }));
    const before = vendor.files.size;
    const answer = await refused(upload(lines, scoped));
    expect(answer.status).toBe(status);
    expect(answer.message).toContain(words);
    expect(vendor.files.size).toBe(before);
  });

  test("must be for one provider, and in its own format", async () => {
    await gateway.admin("PUT", "/providers/another", {
      kind: "openai",
      base_url: `${vendor.url}/v1`,
      credential: "another-credential-of-the-suite",
      allow_private_network: true,
      models: ["other-*"],
      enabled: true,
    });
    for (const [model, words] of [
      ["other-model", "one provider"],
      ["claude-opus-4-6", "does not speak this format"],
      ["echo", "does not accept batches"],
    ] as const) {
      const answer = await refused(upload([line("gpt-4o"), line(model)]));
      expect(answer).toMatchObject({ status: 400 });
      expect(answer.message).toContain(words);
    }
    await gateway.admin("DELETE", "/providers/another");
  });

  test("is refused where a cloud's address has no batches, and so are messages", async () => {
    const reachable = { base_url: vendor.url, credential: "x", allow_private_network: true };
    const models = ["amazon.titan-embed-*", "anthropic.*"];
    await gateway.admin("PUT", "/providers/cloud", { kind: "bedrock", models, ...reachable });
    const titan = line("amazon.titan-embed-text-v1").replace("chat/completions", "embeddings");
    const params = {
      model: "anthropic.claude-x",
      max_tokens: 9,
      messages: [{ role: "user" as const, content: "Hi" }],
    };
    const messages = anthropic.messages.batches.create({ requests: [{ custom_id: "1", params }] });
    for (const answer of await Promise.all([upload([titan]), messages].map(refused))) {
      expect(answer).toMatchObject({
        status: 400,
        message: expect.stringContaining("does not accept batches"),
      });
    }
    expect(vendor.seen).toEqual([]);
    await gateway.admin("DELETE", "/providers/cloud");
  });

  test("with a request that a guardrail blocks is refused whole, also among messages", async () => {
    await gateway.admin("POST", "/guardrails", {
      name: "no-secrets",
      position: 1,
      match: { pattern: "forbidden word" },
      action: "block",
      message: "Not here.",
    });
    const before = vendor.files.size;
    const answer = await refused(
      upload([line("chat"), line("chat").replace("[]", '[{"role":"user","content":"a forbidden word"}]')]),
    );
    expect(answer).toMatchObject({ status: 403 });
    expect(answer.message).toContain("Not here.");
    const requests = [
      {
        custom_id: "c",
        params: {
          model: "claude",
          max_tokens: 1,
          messages: [{ role: "user" as const, content: "forbidden word" }],
        },
      },
    ];
    expect((await refused(anthropic.messages.batches.create({ requests }))).status).toBe(403);
    expect(vendor.files.size).toBe(before);
    expect(vendor.seen.filter((asked) => asked.startsWith("POST"))).toEqual([]);
    await gateway.admin("DELETE", "/guardrails/no-secrets");
  });

  test("of a key whose budget is spent by a batch makes no further one", async () => {
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", {
      name: newId(),
      limits: { budget_usd: "0.002", budget_period: "month" },
    });
    const own = client(secret);
    const session = newId();
    const short = line("chat", ',"max_tokens":100');
    const batch = await started([short], session, own);
    vendor.finish(batch.id);
    await own.batches.retrieve(batch.id);
    await gateway.records(session);
    await until(async () => (await refused(started([short], newId(), own))).status === 402);
  });

  test("reserves what its requests may cost together: over the budget nothing is sent", async () => {
    const { secret, id } = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", {
      name: newId(),
      limits: { budget_usd: "1" },
    });
    const own = client(secret);
    // A cent each, and a little for the request itself.
    const cents = (count: number) => Array.from({ length: count }, () => line("chat", ',"max_tokens":1000'));
    expect((await refused(started(cents(200), newId(), own))).status).toBe(402);
    const requests = Array.from({ length: 200 }, (_, n) => ({
      custom_id: `c${n}`,
      params: { model: "claude", max_tokens: 1000, messages: [{ role: "user" as const, content: "hi" }] },
    }));
    const claude = new Anthropic({ authToken: secret, baseURL: gateway.url, maxRetries: 0 });
    expect((await refused(claude.messages.batches.create({ requests }))).status).toBe(402);
    expect(vendor.seen.filter((asked) => asked.startsWith("POST") && asked.includes("batches"))).toEqual([]);

    const session = newId();
    const first = await started(cents(60), session, own);
    expect((await refused(started(cents(60), newId(), own))).status).toBe(402);
    // Calls count in the same budget.
    const body = {
      model: "gpt-4o",
      max_tokens: 60_000,
      messages: [{ role: "user" as const, content: "hi" }],
    };
    expect((await refused(own.chat.completions.create(body))).status).toBe(402);
    vendor.finish(first.id, { answers: (index) => index === 0 });
    await own.batches.retrieve(first.id);
    await gateway.records(session);
    await until(async () => (await refused(started(cents(60), newId(), own))).status === 200);
    const [left] =
      await gateway.sql`select count(*)::int as holds from limit_holds where key_id = ${id} and not ended`;
    expect(left?.["holds"]).toBe(0);
  });

  test("of unknown cost counts at what was reserved for it", async () => {
    const limits = { budget_usd: "1" };
    const { secret, id } = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", {
      name: newId(),
      limits,
    });
    const session = newId();
    const { id: batch } = await started([line("chat", ',"max_tokens":50000')], session, client(secret));
    vendor.forget(batch);
    await gateway.sql`update batches set next_check_at = now(), started_at = now() - interval '10 days' where id = ${batch}`;
    expect(await gateway.records(session)).toMatchObject([{ cost_usd: null, state: "interrupted" }]);
    const [spent] = await gateway.sql`select sum(usd)::float8 as usd from key_spend where key_id = ${id}`;
    expect(spent?.["usd"]).toBeGreaterThan(0.5);
  });

  test("is refused under a budget if a request's model has no price, or the file is older than the budget", async () => {
    const { secret, id } = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", {
      name: newId(),
    });
    const own = client(secret);
    const { id: file } = await upload([line("chat")], own);
    await gateway.admin("PATCH", `/keys/${id}`, { limits: { budget_usd: "5" } });
    const create = (input: string) =>
      own.batches.create({
        input_file_id: input,
        endpoint: "/v1/chat/completions",
        completion_window: "24h",
      });
    await until(async () => (await refused(create(file))).message.includes("Upload it again"));
    const unpriced = await upload([line("gpt-nobody-prices-it", ',"max_tokens":1')], own);
    const answer = await refused(create(unpriced.id));
    expect([answer.status, answer.message.includes("no price")]).toEqual([403, true]);
  });

  test("of which a late line is refused never ends at the provider", async () => {
    const scoped = client(await newKey({ routes: ["chat"] }));
    const lines = Array.from({ length: 400 }, () => line("chat", `,"user":"${"x".repeat(10_000)}"`));
    const before = vendor.files.size;
    expect((await refused(upload([...lines, line("gpt-4o-mini")], scoped))).status).toBe(403);
    expect(vendor.files.size).toBe(before);
  });

  test("with another purpose is refused, wherever the purpose stands", async () => {
    const file = jsonl([line("gpt-4o")]);
    const before = vendor.files.size;
    expect((await refused(openai.files.create({ file, purpose: "fine-tune" }))).status).toBe(400);
    expect((await refused(openai.files.create({ purpose: "fine-tune", file }))).status).toBe(400);
    expect(vendor.files.size).toBe(before);
  });
});

describe("a batch of lines", () => {
  test("is recorded once, at interactive rates, with the labels of the call that created it", async () => {
    const session = newId();
    const batch = await started([line("chat"), line("gpt-4o"), line("chat")], session);
    expect((batch as unknown as WithGateway).gateway).toEqual({
      cost_usd: null,
      floor: false,
      basis: "interactive_rates",
      reconciled_at: null,
    });
    vendor.finish(batch.id, { answers: (index) => index !== 1 });
    const polls = await Promise.all(Array.from({ length: 8 }, () => openai.batches.retrieve(batch.id)));
    for (const poll of polls)
      expect((poll as unknown as WithGateway).gateway).toMatchObject({ cost_usd: "0.006" });
    const records = await gateway.records(session);
    await gateway.admin("GET", "/requests");
    expect(records).toHaveLength(1);
    const [record] = await gateway.sql`select * from requests where session = ${session}`;
    expect(record).toMatchObject({
      channel: "batch",
      state: "ok",
      surface: "batches",
      route: "chat",
      model: "gpt-4o",
      key_id: keyId,
      tags: ["nightly"],
      input_tokens: 2000,
      output_tokens: 200,
      cost_usd: "0.006",
      unpriced: false,
      partial: false,
    });
    const view = await gateway.admin<{ data: object[] }>("GET", `/keys/${keyId}/batches`);
    expect(view.data[0]).toMatchObject({
      id: batch.id,
      status: "completed",
      cost_usd: "0.006",
      basis: "interactive_rates",
      session,
    });
  });

  test("hands its results to its key", async () => {
    const batch = await started([line("chat")], newId());
    vendor.finish(batch.id);
    const { output_file_id } = await openai.batches.retrieve(batch.id);
    const content = await openai.files.content(output_file_id ?? "");
    expect(await content.text()).toContain('"status_code":200');
  });

  test.each([
    ["cancelled", 2, "0.006"],
    ["expired", 1, "0.003"],
    ["failed", 0, "0"],
  ])("that is %s costs what it has made", async (status, answers, cost) => {
    const session = newId();
    const batch = await started([line("chat"), line("chat"), line("chat")], session);
    vendor.finish(batch.id, { status, answers: (index) => index < answers });
    await openai.batches.retrieve(batch.id);
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ cost_usd: cost, unpriced: false });
  });

  test("that nobody asks about is recorded in the background", async () => {
    const session = newId();
    const batch = await started([line("chat")], session);
    vendor.finish(batch.id);
    await gateway.sql`update batches set next_check_at = now() - interval '1 minute' where id = ${batch.id}`;
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ cost_usd: "0.003" });
  });

  test("is recorded while another provider's answer about its own batch does not come", async () => {
    const asked = Promise.withResolvers<void>();
    const hung = Bun.serve({
      port: 0,
      idleTimeout: 0,
      fetch: () => {
        asked.resolve();
        return new Promise<Response>(() => undefined);
      },
    });
    await gateway.admin("PUT", "/providers/hung", {
      kind: "openai",
      base_url: `http://127.0.0.1:${hung.port}/v1`,
      credential: "credential-of-a-hung-provider",
      allow_private_network: true,
      models: ["hung-*"],
      enabled: true,
    });
    const session = newId();
    const batch = await started([line("chat")], session);
    await gateway.sql`update batches set next_check_at = now() + interval '1 day' where id = ${batch.id}`;
    vendor.finish(batch.id);
    await gateway.sql`insert into batches select (jsonb_populate_record(b, jsonb_build_object('id', 'batch_hung',
      'provider', 'hung', 'record_id', gen_random_uuid(), 'next_check_at', now() - interval '1 day'))).*
      from batches b where id = ${batch.id}`;
    await asked.promise;
    await gateway.sql`update batches set next_check_at = now() - interval '1 minute' where id = ${batch.id}`;
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ cost_usd: "0.003" });
    await hung.stop(true);
    await gateway.admin("DELETE", "/providers/hung");
  });

  test("is recorded once by two gateways, by polls of both and in the background, and again after a crash", async () => {
    const place = scratch();
    const second = await localGateway({
      dataDir: place.path,
      databaseUrl: gateway.databaseUrl,
      env: { BATCH_CHECK_SECONDS: "1" },
    });
    try {
      const other = new OpenAI({ apiKey: gateway.secret, baseURL: `${second.url}/v1`, maxRetries: 0 });
      const session = newId();
      const batch = await started([line("chat")], session);
      vendor.finish(batch.id);
      for (let round = 0; round < 3; round++) {
        await gateway.sql`update batches set reconciled_at = null, cost_usd = null, next_check_at = now() - interval '1 minute' where id = ${batch.id}`;
        await Promise.all([openai, other, openai, other].map((it) => it.batches.retrieve(batch.id)));
        await Bun.sleep(400);
      }
      await gateway.records(session);
      await second.stop();
      const rows = await gateway.sql`select cost_usd from requests where session = ${session}`;
      expect([...rows]).toEqual([{ cost_usd: "0.003" }]);
    } finally {
      await second.stop();
      place.remove();
    }
  });

  test("whose results are deleted is recorded before they go", async () => {
    const session = newId();
    const batch = await started([line("chat")], session);
    vendor.finish(batch.id);
    await gateway.sql`update batches set next_check_at = now() + interval '1 day' where id = ${batch.id}`;
    const { output_file_id } = await openai.batches.retrieve(batch.id);
    await gateway.sql`update batches set reconciled_at = null where id = ${batch.id}`;
    await openai.files.delete(output_file_id ?? "");
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ cost_usd: "0.003" });
    expect((await refused(openai.files.retrieve(output_file_id ?? ""))).status).toBe(404);
  });

  test.each(["0h", "25h", "1441m", "1d", "h", "-1h", "1.5h", 24, null])(
    "with the window %p is refused unasked",
    async (window) => {
      const body = {
        input_file_id: "file-1",
        endpoint: "/v1/chat/completions" as const,
        completion_window: window as "24h",
      };
      expect((await refused(openai.batches.create(body))).status).toBe(400);
      // Batches of the tests before are asked about in the background.
      expect(vendor.seen.filter((asked) => asked.startsWith("POST"))).toEqual([]);
    },
  );

  test("with a shorter window is sent with the one that the provider knows", async () => {
    const { id } = await upload([line("chat")]);
    const body = {
      input_file_id: id,
      endpoint: "/v1/chat/completions" as const,
      completion_window: "90m" as "24h",
    };
    await openai.batches.create(body);
    expect(JSON.parse(vendor.batchBodies.at(-1) ?? "")).toEqual({ ...body, completion_window: "24h" });
  });

  test("is listed and cancelled as at the vendor", async () => {
    const own = client(await newKey({}));
    const made = [];
    for (let n = 0; n < 3; n++) made.unshift(await started([line("chat")], newId(), own));
    const listed: string[] = [];
    for await (const batch of own.batches.list({ limit: 2 })) listed.push(batch.id);
    expect(listed).toEqual(made.map(({ id }) => id));
    const cancelled = await own.batches.cancel(listed[0] ?? "");
    expect(cancelled.status).toBe("cancelling");
    const files: string[] = [];
    for await (const file of own.files.list({ limit: 2 })) files.push(file.id);
    expect(files).toHaveLength(3);
  });
});

describe("a message batch", () => {
  const params = (model: string) => ({
    model,
    max_tokens: 10,
    messages: [{ role: "user" as const, content: "hi" }],
  });
  const create = (it: Anthropic, models: string[], session: string) =>
    it.messages.batches.create(
      { requests: models.map((model, n) => ({ custom_id: `c${n}`, params: params(model) })) },
      { headers: { "x-session-id": session } },
    );

  test("is resolved, polled, read through the gateway, and recorded once", async () => {
    const session = newId();
    const { id } = await create(anthropic, ["claude", "claude-opus-4-6"], session);
    expect(vendor.created.get(id)?.requests.map(({ params: { model } }) => model)).toEqual([
      "claude-opus-4-6",
      "claude-opus-4-6",
    ]);
    vendor.finish(id, { answers: (index) => index === 0 });
    const ended = await anthropic.messages.batches.retrieve(id);
    expect(ended.results_url).toBe(`${gateway.url}/v1/messages/batches/${id}/results`);
    expect((ended as unknown as WithGateway).gateway).toMatchObject({ cost_usd: "0.003" });
    const results = [];
    for await (const result of await anthropic.messages.batches.results(id)) results.push(result.custom_id);
    expect(results).toEqual(["c0", "c1"]);
    const [record] = await gateway.records(session);
    expect(record).toMatchObject({ route: "claude", cost_usd: "0.003", input_tokens: 1000, unpriced: false });
    const listed = await anthropic.messages.batches.list({ limit: 5 });
    expect(listed.data[0]?.id).toBe(id);
    await anthropic.messages.batches.delete(id);
    expect((await refused(anthropic.messages.batches.retrieve(id))).status).toBe(404);
  });

  test("with a request outside the key's scope is refused unasked", async () => {
    const scoped = new Anthropic({
      authToken: await newKey({ routes: ["claude"] }),
      baseURL: gateway.url,
      maxRetries: 0,
    });
    const answer = await refused(create(scoped, ["claude", "claude-sonnet-4-6"], newId()));
    expect(answer.status).toBe(403);
    expect(answer.message).toContain("Request 2");
    expect(vendor.seen.filter((asked) => asked.startsWith("POST"))).toEqual([]);
  });

  test("that runs can be cancelled", async () => {
    const { id } = await create(anthropic, ["claude"], newId());
    expect((await anthropic.messages.batches.cancel(id)).processing_status).toBe("canceling");
  });
});

test("a file of a caller is only ever saved by a browser, whatever type it has", async () => {
  const batch = await started([line("chat")], newId());
  const answer = await fetch(`${gateway.url}/v1/files/${batch.input_file_id}/content`, {
    headers: { authorization: `Bearer ${gateway.secret}` },
  });
  expect([answer.status, answer.headers.get("content-disposition")]).toEqual([200, "attachment"]);
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
});

describe("another key", () => {
  test("gets for a foreign id what it gets for none, and the provider is not asked", async () => {
    const batch = await started([line("chat")], newId());
    const other = await newKey({});
    vendor.seen.length = 0;
    const ask = async (method: string, path: string, body?: object) => {
      const answer = await fetch(gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${other}`, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: await answer.json() };
    };
    const file = batch.input_file_id;
    const window = { endpoint: "/v1/chat/completions", completion_window: "24h" };
    for (const [method, foreign, absent, what] of [
      ["GET", `/v1/files/${file}`, "/v1/files/file-none", null],
      ["GET", `/v1/files/${file}/content`, "/v1/files/file-none/content", null],
      ["DELETE", `/v1/files/${file}`, "/v1/files/..%2f..%2fadmin", null],
      ["GET", `/v1/batches/${batch.id}`, "/v1/batches/none", null],
      ["POST", `/v1/batches/${batch.id}/cancel`, "/v1/batches/none/cancel", null],
      ["POST", "/v1/batches", "/v1/batches", [file, "file-none"]],
      ["GET", `/v1/messages/batches/${batch.id}`, "/v1/messages/batches/none", null],
    ] as const) {
      const one = await ask(method, foreign, what ? { ...window, input_file_id: what[0] } : undefined);
      const none = await ask(method, absent, what ? { ...window, input_file_id: what[1] } : undefined);
      expect(one.status).toBe(404);
      const nameless = ({ body, status }: typeof one) => ({ status, body: { ...body, request_id: null } });
      expect(nameless(one)).toEqual(nameless(none));
    }
    expect(vendor.seen.filter((asked) => asked.startsWith("POST"))).toEqual([]);
  });

  test("never sees the first one's files and batches in 200 steps at random", async () => {
    const sides = await Promise.all(
      ["a", "b"].map(async () => ({
        it: client(await newKey({})),
        files: new Set<string>(),
        batches: new Set<string>(),
      })),
    );
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const any = (ids: Set<string>) => [...ids][random(Math.max(ids.size, 1))] ?? "file-none";
    for (let step = 0; step < 200; step++) {
      const [own, other] = random(2) === 0 ? [sides[0], sides[1]] : [sides[1], sides[0]];
      if (!own || !other) continue;
      const foreign = random(2) === 0;
      const ids = foreign ? other : own;
      switch (random(6)) {
        case 0:
          own.files.add((await upload([line("chat")], own.it)).id);
          break;
        case 1: {
          const request = {
            input_file_id: any(ids.files),
            endpoint: "/v1/chat/completions" as const,
            completion_window: "24h" as const,
          };
          const made = await own.it.batches.create(request).catch((error) => error.status as number);
          if (typeof made === "number") expect(made).toBe(404);
          else {
            expect(own.files.has(request.input_file_id)).toBe(true);
            own.batches.add(made.id);
          }
          break;
        }
        case 2:
          expect((await own.it.files.list({ limit: 1000 })).data.every(({ id }) => own.files.has(id))).toBe(
            true,
          );
          break;
        case 3:
          expect(
            (await own.it.batches.list({ limit: 100 })).data.every(({ id }) => own.batches.has(id)),
          ).toBe(true);
          break;
        case 4: {
          const { status } = await refused(own.it.files.retrieve(any(ids.files)));
          expect(status).toBe(foreign || own.files.size === 0 ? 404 : 200);
          break;
        }
        default: {
          const { status } = await refused(own.it.batches.retrieve(any(ids.batches)));
          expect(status).toBe(foreign || own.batches.size === 0 ? 404 : 200);
        }
      }
    }
    expect(sides.every(({ files, batches }) => files.size > 5 && batches.size > 2)).toBe(true);
  });
});

describe("when the provider of a file or a batch fails", () => {
  test("the client and the log learn who failed and why", async () => {
    const port = freePort();
    const own = await wiredGateway({ chat: `http://127.0.0.1:${port}/v1`, messages: vendor.url });
    const api = new OpenAI({ apiKey: own.secret, baseURL: `${own.url}/v1`, maxRetries: 0 });
    const error = await upload([line("gpt-4o")], api).catch((failure) => failure);
    expect(error.status).toBe(502);
    expect(error.message).toContain(
      "The provider could not be reached (provider chat-vendor, cause refused).",
    );
    const lines = own
      .log()
      .split("\n")
      .filter((entry) => entry.includes("a provider did not answer"));
    expect(lines.map((entry) => JSON.parse(entry))).toMatchObject([
      { provider: "chat-vendor", type: "upstream_unreachable", cause: "refused" },
    ]);
  });
});
