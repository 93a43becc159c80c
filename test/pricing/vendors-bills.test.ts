import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { batchVendor } from "../support/batch-vendor.ts";
import { type ScriptedUpstream, scriptedUpstream } from "../support/scripted-upstream.ts";
import { until } from "../support/until.ts";
import { type WiredGateway, wiredGateway } from "../support/wired-gateway.ts";

/** The answer that the vendor gives next, and its content type. */
let answer: { body: unknown; type?: string };
let upstream: ScriptedUpstream;
let gateway: WiredGateway;
let calls = 0;

const events = (list: object[]) =>
  list
    .map(
      (event) =>
        `event: ${(event as { type?: string }).type ?? "message"}\ndata: ${JSON.stringify(event)}\n\n`,
    )
    .join("");

beforeAll(async () => {
  upstream = await scriptedUpstream((_request, reply) => {
    const { body, type = "application/json" } = answer;
    reply.head(type);
    reply.chunk(typeof body === "string" ? body : JSON.stringify(body));
    reply.end();
  });
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
  for (const kind of ["openrouter", "perplexity", "xai"]) {
    await gateway.admin("PUT", `/providers/${kind}`, {
      kind,
      base_url: `${upstream.url}/v1`,
      credential: "vendor-credential",
      allow_private_network: true,
      models: [`${kind}-*`, "sonar-pro", "sonar", "grok-*", "openai/*"].filter((glob) =>
        OF[kind]?.includes(glob),
      ),
    });
  }
});
const OF: Record<string, string[]> = {
  openrouter: ["openai/*"],
  perplexity: ["sonar-pro", "sonar"],
  xai: ["grok-*"],
};
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

type Row = Record<string, unknown>;

/** Sends a call whose answer is `body`, and returns its record as stored. */
async function recorded(
  path: string,
  request: object,
  reply: { body: unknown; type?: string },
): Promise<Row> {
  answer = reply;
  calls += 1;
  const session = `bill-${calls}`;
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "x-gateway-key": gateway.secret, "content-type": "application/json", "x-session-id": session },
    body: JSON.stringify(request),
  });
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  const [row] = await gateway.records(session);
  return row as Row;
}

const messages = [{ role: "user", content: "Weather?" }];
const chat = (model: string, usage: object, more: object = {}) =>
  recorded(
    "/v1/chat/completions",
    { model, messages },
    {
      body: {
        id: "c1",
        object: "chat.completion",
        model,
        choices: [{ index: 0, message: { role: "assistant", content: "Rain." }, finish_reason: "stop" }],
        usage,
        ...more,
      },
    },
  );
const responses = (model: string, output: object[], usage: object, more: object = {}) =>
  recorded(
    "/v1/responses",
    { model, input: "Weather?" },
    {
      body: { id: "r1", object: "response", status: "completed", model, output, usage, ...more },
    },
  );
const TOKENS = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
const RESPONSE_TOKENS = { input_tokens: 1000, output_tokens: 500, total_tokens: 1500 };

describe("a cost that the vendor reports", () => {
  test("OpenRouter's wins, and the price list's stays beside it", async () => {
    const row = await chat("openai/gpt-4o-mini", { ...TOKENS, cost: 0.0123, is_byok: false });
    expect(row).toMatchObject({
      cost_usd: "0.0123",
      token_cost_usd: "0.0123",
      cost_basis: "vendor",
      list_cost_usd: "0.00045",
      partial: false,
      unpriced: false,
    });
    const page = await gateway.admin<{ cost: { reason: string } }>("GET", `/requests/${row["id"]}`);
    expect(page.cost.reason).toBe(
      "The provider reported this cost. By the price list it would be 0.00045 USD.",
    );
  });

  test("with the caller's own key at the vendor, the vendor's bill is part of it", async () => {
    const usage = { ...TOKENS, cost: 0.0005, is_byok: true, cost_details: { upstream_inference_cost: 0.01 } };
    expect(await chat("openai/gpt-4o-mini", usage)).toMatchObject({
      cost_usd: "0.0105",
      cost_basis: "vendor",
    });
    const silent = {
      ...TOKENS,
      cost: 0.0005,
      is_byok: true,
      cost_details: { upstream_inference_cost: null },
    };
    expect(await chat("openai/gpt-4o-mini", silent)).toMatchObject({ cost_usd: "0.00045", cost_basis: null });
  });

  test("a model that no list has is priced by it", async () => {
    expect(await chat("openai/of-tomorrow", { ...TOKENS, cost: 1e-7 })).toMatchObject({
      cost_usd: "0.0000001",
      list_cost_usd: null,
      unpriced: false,
    });
  });

  test("Perplexity's, from the last chunk of a stream", async () => {
    const chunk = (usage: object | null) => ({
      object: "chat.completion.chunk",
      model: "sonar-pro",
      choices: [{ index: 0, delta: { content: "Rain." }, finish_reason: usage && "stop" }],
      usage,
    });
    const cost = {
      input_tokens_cost: 0.001,
      output_tokens_cost: 0.0005,
      request_cost: 0.005,
      total_cost: 0.0065,
    };
    const row = await recorded(
      "/v1/chat/completions",
      { model: "sonar-pro", messages, stream: true },
      {
        type: "text/event-stream",
        body: [chunk(null), chunk({ ...TOKENS, cost })]
          .map((it) => `data: ${JSON.stringify(it)}\n\n`)
          .join(""),
      },
    );
    expect(row).toMatchObject({ cost_usd: "0.0065", cost_basis: "vendor", list_cost_usd: "0.0165" });
  });

  test("without it, Perplexity's request fee is that of the search that the request asks for", async () => {
    const costOf = async (model: string, options?: object) => {
      const body = { model, choices: [], usage: TOKENS };
      const row = await recorded(
        "/v1/chat/completions",
        { model, messages, web_search_options: options },
        { body },
      );
      return [row["cost_usd"], row["partial"], row["variant"]];
    };
    expect(await costOf("sonar", { search_context_size: "low" })).toEqual(["0.0065", false, "low"]);
    expect(await costOf("sonar", { search_context_size: "high" })).toEqual(["0.0135", false, "high"]);
    // The vendor's default is low.
    expect(await costOf("sonar")).toEqual(["0.0065", false, null]);
    expect(await costOf("sonar", {})).toEqual(["0.0065", false, null]);
    const medium = { search_context_size: "medium" };
    expect(await costOf("sonar-pro", medium)).toEqual(["0.0205", false, "medium"]);
    expect(await costOf("sonar-pro", { ...medium, search_type: "pro" })).toEqual([
      "0.0285",
      false,
      "medium pro",
    ]);
    // What was searched is not told: the lowest fee is a lower bound.
    expect(await costOf("sonar-pro", { ...medium, search_type: "auto" })).toEqual([
      "0.0205",
      true,
      "medium auto",
    ]);
    expect(await costOf("sonar", { search_context_size: "SIZE OF TOMORROW" })).toEqual([
      "0.0065",
      true,
      "auto",
    ]);
  });

  test("xAI's ticks, which cover tools of its own; without them its sources are billed by the list", async () => {
    const tools = { num_server_side_tools_used: 3, server_side_tool_usage_details: { x_search_calls: 3 } };
    const row = await chat("grok-4", { ...TOKENS, ...tools, cost_in_usd_ticks: 318_319_000 });
    expect(row).toMatchObject({ cost_usd: "0.0318319", cost_basis: "vendor", partial: false });
    expect(await chat("grok-4", { ...TOKENS, num_sources_used: 10 })).toMatchObject({
      cost_usd: "0.2605",
      token_cost_usd: "0.0105",
      search_sources: 10,
      partial: false,
    });
    expect(await chat("grok-4", { ...TOKENS, ...tools })).toMatchObject({
      cost_usd: "0.0105",
      partial: true,
    });
  });
});

describe("what is billed without a figure makes the cost a lower bound", () => {
  const claude = (content: object[], more: object = {}, usage: object = {}) =>
    recorded(
      "/v1/messages",
      { model: "claude-opus-4-6", max_tokens: 9, messages },
      {
        body: {
          id: "m1",
          type: "message",
          role: "assistant",
          model: "claude-opus-4-6",
          content,
          stop_reason: "end_turn",
          usage: { input_tokens: 1000, output_tokens: 500, ...usage },
          ...more,
        },
      },
    );
  const CODE = { type: "server_tool_use", id: "srvtoolu_1", name: "bash_code_execution", input: {} };
  const SEARCH = { type: "server_tool_use", id: "srvtoolu_2", name: "web_search", input: {} };

  test("code that Anthropic runs in a container", async () => {
    const partial = { cost_usd: "0.0175", partial: true, usage_source: "partial" };
    expect(await claude([CODE])).toMatchObject(partial);
    expect(
      await claude([], { container: { id: "container_1", expires_at: "2026-11-20T12:00:00Z" } }),
    ).toMatchObject(partial);
    expect(await claude([], {}, { server_tool_use: { code_execution_requests: 1 } })).toMatchObject(partial);
    expect(await claude([], {}, { server_tool_use: { of_tomorrow_requests: 1 } })).toMatchObject(partial);
    const fetched = { server_tool_use: { web_search_requests: 1, web_fetch_requests: 2 } };
    expect(await claude([SEARCH], { container: null }, fetched)).toMatchObject({
      cost_usd: "0.0275",
      partial: false,
    });
  });

  test("the same in a stream, after its text", async () => {
    const text = { type: "text", text: "" };
    const row = await recorded(
      "/v1/messages",
      { model: "claude-opus-4-6", max_tokens: 9, messages, stream: true },
      {
        type: "text/event-stream",
        body: events([
          {
            type: "message_start",
            message: { model: "claude-opus-4-6", usage: { input_tokens: 1000, output_tokens: 1 } },
          },
          { type: "content_block_start", index: 0, content_block: text },
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Rain." } },
          { type: "content_block_stop", index: 0 },
          { type: "content_block_start", index: 1, content_block: CODE },
          { type: "content_block_stop", index: 1 },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 500 } },
          { type: "message_stop" },
        ]),
      },
    );
    expect(row).toMatchObject({ cost_usd: "0.0175", partial: true, state: "ok" });
  });

  test("shells and other hosted tools of Responses, also those that are not known yet", async () => {
    const shell = {
      type: "shell_call",
      id: "sh_1",
      environment: { type: "container_reference", container_id: "c" },
    };
    const local = { type: "shell_call", id: "sh_1", environment: { type: "local" } };
    for (const item of [shell, { type: "shell_call", id: "sh_1" }, { type: "time_travel_call", id: "t_1" }]) {
      const row = await responses("gpt-4o", [item], RESPONSE_TOKENS);
      expect(row).toMatchObject({ cost_usd: "0.0075", partial: true });
    }
    for (const item of [
      local,
      { type: "function_call", id: "f_1" },
      { type: "shell_call_output", id: "s_1" },
    ]) {
      const row = await responses("gpt-4o", [item], RESPONSE_TOKENS);
      expect(row).toMatchObject({ cost_usd: "0.0075", partial: false });
    }
  });
});

describe("service tiers", () => {
  test("flex and priority are priced as the answer names them", async () => {
    expect(await chat("gpt-4o", TOKENS, { service_tier: "flex" })).toMatchObject({ cost_usd: "0.00375" });
    expect(await chat("gpt-4o", TOKENS, { service_tier: "priority" })).toMatchObject({ cost_usd: "0.01275" });
    // Priority processing is called fast mode since July 2026.
    expect(await chat("gpt-4o", TOKENS, { service_tier: "fast" })).toMatchObject({ cost_usd: "0.01275" });
    expect(await chat("gpt-5.6-sol", TOKENS, { service_tier: "fast" })).toMatchObject({ cost_usd: "0.028" });
    expect(await chat("gpt-4o-mini", TOKENS, { service_tier: "priority" })).toMatchObject({
      cost_usd: "0.00075",
    });
    expect(await chat("gpt-4o", TOKENS, { service_tier: "scale" })).toMatchObject({ cost_usd: null });
  });

  test("Anthropic's fast mode, and in the US alone", async () => {
    const fast = (usage: object) =>
      recorded(
        "/v1/messages",
        { model: "claude-opus-4-6", max_tokens: 9, messages, speed: "fast" },
        {
          body: {
            type: "message",
            model: "claude-opus-4-6",
            content: [],
            usage: {
              input_tokens: 1000,
              output_tokens: 500,
              service_tier: "standard",
              speed: "fast",
              ...usage,
            },
          },
        },
      );
    expect(await fast({})).toMatchObject({ cost_usd: "0.105" });
    expect(await fast({ inference_geo: "us" })).toMatchObject({ cost_usd: "0.1155" });
  });

  test("an administrator enters one: as amounts, or times the standard price", async () => {
    const base = { model: "gpt-4o", effective_from: "2026-01-01", tier: "scale" };
    const both = gateway.admin("POST", "/prices", { ...base, multiplier: 2, input: 1, output: 1 });
    expect(both).rejects.toThrow("400");
    const multiplied = await gateway.admin<Row>("POST", "/prices", { ...base, multiplier: "3.5" });
    expect(multiplied).toMatchObject({ tier: "scale", multiplier: "3.5", input: null, output: null });
    expect(await chat("gpt-4o", TOKENS, { service_tier: "scale" })).toMatchObject({ cost_usd: "0.02625" });
    await gateway.admin("POST", "/prices", { ...base, tier: "flex", input: 1, output: 2 });
    expect(await chat("gpt-4o", TOKENS, { service_tier: "flex" })).toMatchObject({ cost_usd: "0.002" });
    expect(await chat("gpt-4o", TOKENS, { service_tier: "default" })).toMatchObject({ cost_usd: "0.0075" });
  });
});

describe("searches", () => {
  test("are stored with the tool that sets their price, so that a record can be priced later", async () => {
    const SEARCHES = [
      { type: "web_search_call", id: "ws_1", action: { type: "search" } },
      { type: "file_search_call", id: "fs_1", queries: ["weather"] },
    ];
    const tools = { tools: [{ type: "web_search_preview" }] };
    expect(await responses("gpt-4o", SEARCHES, RESPONSE_TOKENS, tools)).toMatchObject({
      cost_usd: "0.035",
      token_cost_usd: "0.0075",
      web_searches: 1,
      file_searches: 1,
      variant: "web_search_preview",
      partial: false,
    });
    const unlisted = await responses("gpt-4o-of-ours", SEARCHES, RESPONSE_TOKENS, tools);
    expect(unlisted).toMatchObject({ cost_usd: null, variant: "web_search_preview", file_searches: 1 });
  });
});

describe("where it ran", () => {
  test("a provider's location, as an administrator sets it, decides the list price, and is shown", async () => {
    const at = (location: string | null) =>
      gateway.admin<Row>("PATCH", "/providers/chat-vendor", { location });
    expect(await at("eu")).toMatchObject({ location: "eu", runs_in: "eu" });
    const row = await chat("gpt-5.4", TOKENS);
    expect(row).toMatchObject({ cost_usd: "0.011", partial: false });
    const page = await gateway.admin<{ cost: { entry: string } }>("GET", `/requests/${row["id"]}`);
    expect(page.cost.entry).toBe("list:openai/gpt-5.4 (eu)");
    expect(await at("global")).toMatchObject({ location: "global", runs_in: null });
    expect(await chat("gpt-5.4", TOKENS)).toMatchObject({ cost_usd: "0.01" });
    expect(at("No place")).rejects.toThrow("400");
    await at(null);
  });

  test("an address that names its place needs no setting", async () => {
    const base_url = "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5";
    const view = await gateway.admin<Row>("PUT", "/providers/regional", { kind: "vertex", base_url });
    expect(view).toMatchObject({ location: null, runs_in: "us-east5" });
  });
});

describe("a model that answered under a listed alias, and is not listed", () => {
  test("is unpriced, listed by its own name, and priced once that has a price", async () => {
    const answeredBy = "gpt-4.1-2027-01-01";
    const body = { object: "chat.completion", model: answeredBy, choices: [], usage: TOKENS };
    const call = () => recorded("/v1/chat/completions", { model: "gpt-4.1", messages }, { body });
    const row = await call();
    expect(row).toMatchObject({ model: "gpt-4.1", cost_usd: null, unpriced: true });
    const page = await gateway.admin<{ cost: Row }>("GET", `/requests/${row["id"]}`);
    expect(page.cost["reason"]).toContain(`for gpt-4.1 of chat-vendor (${answeredBy} answered)`);
    const { data } = await gateway.admin<{ data: Row[] }>("GET", "/prices/unpriced");
    const listed = data.filter(({ model }) => String(model).startsWith("gpt-4.1"));
    expect(listed).toMatchObject([{ model: answeredBy, requests: 1 }]);
    const price = { model: answeredBy, effective_from: "2026-01-01", input: "1", output: "2" };
    await gateway.admin("POST", "/prices", price);
    expect(await call()).toMatchObject({ cost_usd: "0.002", cost_basis: "contract", partial: false });
  });
});

describe("an administrator's price", () => {
  test("inherits from the list, whose cost stays beside it, with what the contract saved", async () => {
    const price = { model: "gpt-5.4", effective_from: "2026-01-01", input: "2.25", output: "13.5" };
    await gateway.admin("POST", "/prices", price);
    const usage = { prompt_tokens: 300_000, completion_tokens: 1000, total_tokens: 301_000 };
    const row = await chat("gpt-5.4", usage);
    expect(row).toMatchObject({
      cost_usd: "1.37025",
      cost_basis: "contract",
      list_cost_usd: "1.5225",
      partial: false,
    });
    const page = await gateway.admin<Row & { cost: Row }>("GET", `/requests/${row["id"]}`);
    expect(page).toMatchObject({ cost_basis: "contract", list_cost_usd: "1.5225" });
    expect(page.cost["savings_usd"]).toBe("0.15225");
    expect(page.cost["reason"]).toEndWith(
      "By the price list it would be 1.5225 USD: your price saves 0.15225 USD.",
    );
  });

  test("of a model without a list price leaves out what it does not name", async () => {
    const price = { model: "gpt-of-tomorrow", effective_from: "2026-01-01", input: "1", output: "2" };
    await gateway.admin("POST", "/prices", price);
    expect(await chat("gpt-of-tomorrow", TOKENS)).toMatchObject({
      cost_usd: "0.002",
      cost_basis: "contract",
      list_cost_usd: null,
      partial: false,
    });
    const cached = { ...TOKENS, prompt_tokens_details: { cached_tokens: 600 } };
    expect(await chat("gpt-of-tomorrow", cached)).toMatchObject({ cost_usd: "0.0014", partial: true });
  });
});

describe("sound by the second", () => {
  test("is priced, and its length is stored nowhere", async () => {
    await gateway.admin("PATCH", "/providers/chat-vendor", {
      models: ["gpt-*", "dall-e-*", "tts-*", "whisper-*"],
    });
    answer = { body: { text: "Rain.", usage: { type: "duration", seconds: 4711 } } };
    const form = new FormData();
    form.set("model", "whisper-1");
    form.set("file", new Blob(["sound"]), "a.wav");
    const headers = { "x-gateway-key": gateway.secret, "x-session-id": "sound-1" };
    const url = `${gateway.url}/v1/audio/transcriptions`;
    expect((await fetch(url, { method: "POST", headers, body: form })).status).toBe(200);
    const [row] = (await gateway.records("sound-1")) as unknown as Row[];
    expect(row).toMatchObject({ cost_usd: "0.4711", token_cost_usd: "0", partial: false, unpriced: false });
    const page = await gateway.admin<Row>("GET", `/requests/${row?.["id"]}`);
    expect(page["cost"]).toMatchObject({ rows: [{ unit: "audio", count: 1, usd: "0.4711" }] });
    const values = Object.entries({ ...row, ...page }).filter(([name]) => !/cost|_usd|price/.test(name));
    expect(JSON.stringify(values)).not.toContain("4711");
  });
});

describe("images and speech", () => {
  const images = (request: object, body: object) =>
    recorded("/v1/images/generations", { model: "gpt-image-1", prompt: "A cat", ...request }, { body });

  test("gpt-image-1 is priced by its tokens of text and images", async () => {
    const usage = {
      input_tokens: 50,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
      output_tokens: 1056,
      total_tokens: 1106,
    };
    expect(await images({}, { created: 1, data: [{ b64_json: "aQ" }], usage })).toMatchObject({
      cost_usd: "0.04269",
      image_input_tokens: 40,
    });
  });

  test("dall-e by size and quality", async () => {
    await gateway.admin("PATCH", "/providers/chat-vendor", { models: ["gpt-*", "dall-e-*", "tts-*"] });
    const data = [{ url: "https://images.example/1" }, { url: "https://images.example/2" }];
    const cost = async (request: object) => (await images(request, { created: 1, data }))["cost_usd"];
    expect(await cost({ model: "dall-e-3" })).toBe("0.08");
    expect(await cost({ model: "dall-e-3", size: "1024x1792", quality: "hd" })).toBe("0.24");
    expect(await cost({ model: "dall-e-2", size: "256x256" })).toBe("0.032");
    expect(await cost({ model: "dall-e-2", size: "4096x4096" })).toBeNull();
  });

  test("speech by the character; by an estimate where only tokens are billed and none are reported", async () => {
    const speech = (model: string) =>
      recorded(
        "/v1/audio/speech",
        { model, input: "0123456789", voice: "alloy" },
        { body: "sound", type: "audio/mpeg" },
      );
    expect(await speech("tts-1")).toMatchObject({ cost_usd: "0.00015", partial: false });
    expect(await speech("tts-1-hd-1106")).toMatchObject({ cost_usd: "0.0003", partial: false });
    expect(await speech("gpt-4o-mini-tts")).toMatchObject({
      cost_usd: "0.00015",
      partial: true,
      unpriced: false,
    });
  });
});

describe("batches", () => {
  test("cost at most the interactive prices, with the discounted sum beside it, which a setting makes count", async () => {
    const vendor = batchVendor();
    await gateway.admin("PUT", "/providers/batches", {
      kind: "openai",
      base_url: `${vendor.url}/v1`,
      credential: "vendor-credential",
      allow_private_network: true,
      models: ["gpt-4.1"],
    });
    const client = new OpenAI({ apiKey: gateway.secret, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const line = {
      custom_id: "a",
      method: "POST",
      url: "/v1/chat/completions",
      body: { model: "gpt-4.1", messages },
    };
    const run = async (session: string) => {
      const file = await client.files.create({
        purpose: "batch",
        file: await toFile(Buffer.from(`${JSON.stringify(line)}\n`), "lines.jsonl"),
      });
      const batch = await client.batches.create(
        { input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" },
        { headers: { "x-session-id": session } },
      );
      vendor.finish(batch.id);
      await until(async () => (await client.batches.retrieve(batch.id)).status === "completed");
      const [row] = await gateway.records(session);
      return row as unknown as Row;
    };
    const { data: keys } = await gateway.admin<{ data: { id: string }[] }>("GET", "/keys");
    const views = () => gateway.admin<{ data: Row[] }>("GET", `/keys/${keys[0]?.id}/batches`);

    const interactive = await run("batch-1");
    expect(interactive).toMatchObject({
      cost_usd: "0.0028",
      cost_basis: "interactive",
      discounted_cost_usd: "0.0014",
    });
    const page = await gateway.admin<Row & { cost: { reason: string } }>(
      "GET",
      `/requests/${interactive["id"]}`,
    );
    expect(page).toMatchObject({ ceiling: true, discounted_cost_usd: "0.0014" });
    expect(page.cost.reason).toContain("at most this");
    const [view] = (await views()).data;
    expect(view).toMatchObject({ basis: "interactive_rates", ceiling: true, discounted_cost_usd: "0.0014" });

    await gateway.admin("PATCH", "/settings", { batch_basis: "list" });
    expect(await run("batch-2")).toMatchObject({
      cost_usd: "0.0014",
      cost_basis: "batch",
      list_cost_usd: "0.0028",
      discounted_cost_usd: "0.0014",
    });
    const [later] = (await views()).data;
    expect(later).toMatchObject({ basis: "batch_rates", ceiling: false, cost_usd: "0.0014" });
    await vendor.close();
  });
});
