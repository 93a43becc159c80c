import { atEnd } from "../support/at-end.ts";
import { type BatchVendor, batchVendor } from "../support/batch-vendor.ts";

/**
 * Both vendors' model calls and their reports of usage and cost. What is billed is worked out here, from what was asked of
 * them and the prices below alone, which were read from the vendors' pages.
 */

/** Counts of one call by what they are billed as. */
type Counts = Record<string, number>;
/** `silent`: the answer does not say what it used. */
type Ending = "whole" | "cut" | "silent";
/** A stream's second half comes after `waitsFor`. */
export type Asked = { counts: Counts; tier?: string; ending?: Ending; waitsFor?: Promise<void> };

type Entry = { vendor: "anthropic" | "openai"; key: string; model: string; tier: string; counts: Counts };

/** Millionths of a millionth of a dollar for one token, or for one search or image. */
const PRICES: Record<string, Counts> = {
  "claude-sonnet-4-5-20250929": {
    uncached_input_tokens: 3_000_000,
    cache_read_input_tokens: 300_000,
    "cache_creation.ephemeral_5m_input_tokens": 3_750_000,
    "cache_creation.ephemeral_1h_input_tokens": 6_000_000,
    output_tokens: 15_000_000,
    web_search: 10_000_000_000,
  },
  "gpt-5.4": {
    input: 2_500_000,
    "cached input": 250_000,
    output: 15_000_000,
    "web search tool calls": 10_000_000_000,
  },
  "gpt-4o-2024-08-06": { input: 2_500_000, "cached input": 1_250_000, output: 10_000_000 },
  "text-embedding-3-small": { input: 20_000 },
  "gpt-image-1.5": { input: 5_000_000, "image output": 32_000_000 },
  "gpt-audio": {
    input: 2_500_000,
    "audio input": 32_000_000,
    output: 10_000_000,
    "audio output": 64_000_000,
  },
};
/** In hundredths of the standard price. */
const TIERS: Record<string, number> = { standard: 100, batch: 50, flex: 50, priority: 200 };

/** Money as decimal text, from millionths of a millionth. */
const decimal = (millionths: bigint, shift: number): string => {
  const digits = millionths.toString().padStart(13, "0");
  const point = digits.length - 12 + shift;
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
};

export type MockVendor = Awaited<ReturnType<typeof mockVendor>>;

export function mockVendor(day: () => string) {
  const ledger: Entry[] = [];
  const batches: BatchVendor = batchVendor();
  let next: Asked = { counts: {} };
  /** Fails reports with this status. */
  let failing: number | null = null;
  const reportsSeen: URL[] = [];

  const keyOf = (headers: Headers): string => {
    const secret = headers.get("x-api-key") ?? headers.get("authorization") ?? "";
    return secret.includes("vendor-credential") ? "key_gateway" : "key_elsewhere";
  };

  function bill(vendor: Entry["vendor"], headers: Headers, model: string): Asked {
    const asked = { tier: "standard", ...next };
    ledger.push({ vendor, key: keyOf(headers), model, tier: asked.tier, counts: asked.counts });
    return asked;
  }

  function messages(headers: Headers, stream: boolean): Response {
    const model = "claude-sonnet-4-5-20250929";
    const { counts, tier = "standard", ending = "whole" } = bill("anthropic", headers, model);
    const [write5m, write1h] = [
      counts["cache_creation.ephemeral_5m_input_tokens"] ?? 0,
      counts["cache_creation.ephemeral_1h_input_tokens"] ?? 0,
    ];
    const usage = {
      input_tokens: counts["uncached_input_tokens"] ?? 0,
      cache_read_input_tokens: counts["cache_read_input_tokens"] ?? 0,
      cache_creation_input_tokens: write5m + write1h,
      cache_creation: { ephemeral_5m_input_tokens: write5m, ephemeral_1h_input_tokens: write1h },
      output_tokens: counts["output_tokens"] ?? 0,
      service_tier: tier,
      ...(counts["web_search"] && { server_tool_use: { web_search_requests: counts["web_search"] } }),
    };
    const message = { id: "m1", type: "message", role: "assistant", model, content: [], stop_reason: null };
    if (!stream) {
      const content = [{ type: "text", text: "Rain." }];
      return Response.json({
        ...message,
        content,
        stop_reason: "end_turn",
        ...(ending !== "silent" && { usage }),
      });
    }
    const begun = { ...message, usage: { ...usage, output_tokens: 1 } };
    return events(
      [
        { type: "message_start", message: begun },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Rain." } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
        { type: "message_stop" },
      ],
      ending,
    );
  }

  /** A stream; `cut` breaks after the text. */
  function events(list: readonly Record<string, unknown>[], ending: Ending): Response {
    const text = (one: Record<string, unknown>) =>
      `${one["type"] ? `event: ${one["type"]}\n` : ""}data: ${JSON.stringify(one)}\n\n`;
    const body = new ReadableStream<string>({
      async start(controller) {
        for (const [index, one] of list.entries()) {
          if (index === 3 && ending === "cut") return controller.error(new Error("cut"));
          if (index === 3) await next.waitsFor;
          controller.enqueue(text(one));
          if (index === 2) await Bun.sleep(20);
        }
        controller.close();
      },
    });
    return new Response(body.pipeThrough(new TextEncoderStream()), {
      headers: { "content-type": "text/event-stream" },
    });
  }

  function chat(headers: Headers, asked: { model: string; stream?: boolean }): Response {
    const model = asked.model === "gpt-4o" ? "gpt-4o-2024-08-06" : asked.model;
    const { counts, tier = "standard", ending = "whole" } = bill("openai", headers, model);
    const of = (kind: string) => counts[kind] ?? 0;
    const usage = {
      prompt_tokens: of("input") + of("cached input") + of("audio input"),
      completion_tokens: of("output") + of("audio output"),
      total_tokens: Object.values(counts).reduce((a, b) => a + b, 0),
      prompt_tokens_details: { cached_tokens: of("cached input"), audio_tokens: of("audio input") },
      completion_tokens_details: {
        audio_tokens: of("audio output"),
        reasoning_tokens: Math.floor(of("output") / 2),
      },
    };
    const service_tier = tier === "standard" ? "default" : tier;
    const head = { id: "c1", model, created: 1, service_tier };
    if (!asked.stream) {
      const choices = [{ index: 0, message: { role: "assistant", content: "Rain." }, finish_reason: "stop" }];
      return Response.json({ ...head, object: "chat.completion", choices, usage });
    }
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason }],
    });
    const last = { ...head, object: "chat.completion.chunk", choices: [], usage };
    return events(
      [
        chunk({ role: "assistant", content: "" }),
        chunk({ content: "Ra" }),
        chunk({ content: "in." }),
        chunk({}, "stop"),
        last,
      ],
      ending,
    );
  }

  function responses(headers: Headers, model: string): Response {
    const { counts } = bill("openai", headers, model);
    const of = (kind: string) => counts[kind] ?? 0;
    const searches = Array.from({ length: of("web search tool calls") }, (_, index) => ({
      type: "web_search_call",
      id: `ws_${index}`,
      status: "completed",
      action: { type: "search" },
    }));
    const input = of("input") + of("cached input");
    return Response.json({
      id: "r1",
      object: "response",
      status: "completed",
      model,
      tools: [{ type: "web_search" }],
      output: searches,
      usage: {
        input_tokens: input,
        input_tokens_details: { cached_tokens: of("cached input") },
        output_tokens: of("output"),
        total_tokens: input + of("output"),
      },
    });
  }

  function embeddings(headers: Headers, model: string): Response {
    const { counts } = bill("openai", headers, model);
    const prompt_tokens = counts["input"] ?? 0;
    const data = [{ object: "embedding", index: 0, embedding: [0.1] }];
    return Response.json({
      object: "list",
      model,
      data,
      usage: { prompt_tokens, total_tokens: prompt_tokens },
    });
  }

  function images(headers: Headers, model: string): Response {
    const { counts } = bill("openai", headers, model);
    const [input, output] = [counts["input"] ?? 0, counts["image output"] ?? 0];
    const usage = {
      input_tokens: input,
      input_tokens_details: { text_tokens: input, image_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { text_tokens: 0, image_tokens: output },
      total_tokens: input + output,
    };
    return Response.json({ created: 1, data: [{ b64_json: "aQ" }], usage });
  }

  /** Counts added up by whatever names them. */
  function summed(vendor: Entry["vendor"], name: (entry: Entry, kind: string) => object) {
    const sums = new Map<
      string,
      { names: object; kind: string; model: string; tier: string; count: number }
    >();
    for (const entry of ledger.filter((it) => it.vendor === vendor)) {
      for (const [kind, count] of Object.entries(entry.counts)) {
        const names = name(entry, kind);
        const key = JSON.stringify([names, kind, entry.model, entry.tier]);
        const sum = sums.get(key) ?? { names, kind, model: entry.model, tier: entry.tier, count: 0 };
        sum.count += count;
        sums.set(key, sum);
      }
    }
    return [...sums.values()];
  }
  const cost = ({
    model,
    kind,
    tier,
    count,
  }: {
    model: string;
    kind: string;
    tier: string;
    count: number;
  }): bigint =>
    (BigInt(count) *
      BigInt(PRICES[model]?.[kind] ?? 0) *
      (kind.includes("search") ? 1n : BigInt(TIERS[tier] ?? 0))) /
    (kind.includes("search") ? 1n : 100n);

  /** One bucket for each day asked for, two to a page. */
  function buckets(url: URL, of: (day: string) => object[]): Response {
    const from = url.searchParams.get("starting_at") ?? Number(url.searchParams.get("start_time")) * 1000;
    const to = url.searchParams.get("ending_at") ?? Number(url.searchParams.get("end_time")) * 1000;
    const at = Number(url.searchParams.get("page") ?? 0);
    const all: object[] = [];
    for (let ms = new Date(from).getTime(); ms < new Date(to).getTime(); ms += 86_400_000) {
      const results = of(new Date(ms).toISOString().slice(0, 10));
      all.push({ starting_at: new Date(ms).toISOString(), start_time: ms / 1000, results });
    }
    const has_more = at + 31 < all.length;
    return Response.json({
      data: all.slice(at, at + 31),
      has_more,
      next_page: has_more ? String(at + 31) : null,
    });
  }

  function report(url: URL, headers: Headers): Response {
    reportsSeen.push(url);
    if (failing !== null) return new Response("no", { status: failing });
    const isAdmin =
      headers.get("x-api-key") === "sk-ant-admin-1" || headers.get("authorization") === "Bearer sk-admin-1";
    if (!isAdmin) return new Response("no", { status: 401 });
    const isDay = (one: string) => one === day();
    if (url.pathname === "/v1/organizations/cost_report") {
      const lines = summed("anthropic", () => ({})).filter(({ tier }) => tier !== "priority");
      return buckets(url, (one) =>
        isDay(one)
          ? lines.map((it) => ({
              currency: "USD",
              amount: decimal(cost(it), 2),
              workspace_id: null,
              description: `${it.model} ${it.kind}`,
              cost_type: it.kind === "web_search" ? "web_search" : "tokens",
              token_type: it.kind === "web_search" ? null : it.kind,
              model: it.kind === "web_search" ? null : it.model,
              service_tier: it.kind === "web_search" ? null : it.tier,
              context_window: it.kind === "web_search" ? null : "0-200k",
            }))
          : [],
      );
    }
    if (url.pathname === "/v1/organizations/usage_report/messages") {
      const uses = Map.groupBy(
        summed("anthropic", ({ key }) => ({ key })),
        (it) => JSON.stringify([it.names, it.model, it.tier]),
      );
      return buckets(url, (one) =>
        isDay(one)
          ? [...uses].map(([names, them]) => {
              const [{ key }, model, tier] = JSON.parse(names);
              const of = (kind: string) => them.find((it) => it.kind === kind)?.count ?? 0;
              return {
                api_key_id: key,
                workspace_id: null,
                model,
                service_tier: tier,
                context_window: "0-200k",
                uncached_input_tokens: of("uncached_input_tokens"),
                cache_read_input_tokens: of("cache_read_input_tokens"),
                cache_creation: {
                  ephemeral_1h_input_tokens: of("cache_creation.ephemeral_1h_input_tokens"),
                  ephemeral_5m_input_tokens: of("cache_creation.ephemeral_5m_input_tokens"),
                },
                output_tokens: of("output_tokens"),
                server_tool_use: { web_search_requests: of("web_search") },
              };
            })
          : [],
      );
    }
    if (url.pathname === "/v1/organization/costs") {
      const lines = summed("openai", ({ key }) => ({ key }));
      return buckets(url, (one) =>
        isDay(one)
          ? lines.map((it) => ({
              object: "organization.costs.result",
              // Without a float: the report's numbers are decimals.
              amount: { value: Number(decimal(cost(it), 0)), currency: "usd" },
              line_item: it.kind.startsWith("web search")
                ? it.kind
                : `${it.model}, ${it.tier === "standard" ? "" : `${it.tier} `}${it.kind}`,
              api_key_id: Object.values(it.names)[0],
              quantity: it.count,
              quantity_unit: "tokens",
            }))
          : [],
      );
    }
    return buckets(url, () => []);
  }

  const server = Bun.serve({
    port: 0,
    development: false,
    idleTimeout: 60,
    async fetch(request) {
      const url = new URL(request.url);
      if (url.pathname.startsWith("/v1/organization")) return report(url, request.headers);
      if (/^\/v1\/(messages\/batches|batches|files)/.test(url.pathname)) {
        const answer = await fetch(`${batches.url}${url.pathname}${url.search}`, {
          method: request.method,
          headers: { "content-type": request.headers.get("content-type") ?? "application/json" },
          ...(request.method === "GET" ? {} : { body: await request.arrayBuffer() }),
        });
        return new Response(answer.body, {
          status: answer.status,
          headers: { "content-type": answer.headers.get("content-type") ?? "" },
        });
      }
      const asked = (await request.json()) as { model: string; stream?: boolean };
      if (url.pathname === "/v1/messages") return messages(request.headers, asked.stream === true);
      if (url.pathname === "/v1/chat/completions") return chat(request.headers, asked);
      if (url.pathname === "/v1/embeddings") return embeddings(request.headers, asked.model);
      if (url.pathname === "/v1/images/generations") return images(request.headers, asked.model);
      return responses(request.headers, asked.model);
    },
  });
  atEnd(() => server.stop(true));

  return {
    url: `http://127.0.0.1:${server.port}`,
    reportsSeen,
    /** What the next call uses, and how it ends. */
    answer: (asked: Asked) => {
      next = asked;
    },
    fail: (status: number | null) => {
      failing = status;
    },
    /** Ends a batch of one answer, which is billed at half the price. */
    finishBatch(id: string, vendor: Entry["vendor"]) {
      batches.finish(id);
      const counts: Counts =
        vendor === "anthropic"
          ? { uncached_input_tokens: 1000, output_tokens: 100 }
          : { input: 1000, output: 100 };
      const model = vendor === "anthropic" ? "claude-sonnet-4-5-20250929" : "gpt-4o-2024-08-06";
      ledger.push({ vendor, key: "key_gateway", model, tier: "batch", counts });
    },
    close: () => batches.close(),
  };
}
