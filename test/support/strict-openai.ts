import type OpenAI from "openai";
import { atEnd } from "./at-end.ts";
import { refusalByOpenAi } from "./openai-refusals.ts";

type Chat = OpenAI.ChatCompletionCreateParams;
type Request = OpenAI.Responses.ResponseCreateParams;
type Item = {
  type?: string;
  role?: string;
  call_id?: string;
  encrypted_content?: string;
  [member: string]: unknown;
};

export type StrictOpenAi = {
  /** Without a trailing slash; OpenAI's root is `/v1` below it, and `/plain` a server without responses. */
  url: string;
  /** The paths of all requests since `forget`. */
  paths: string[];
  /** The responses requests since `forget`. */
  requests: Request[];
  /** How many of its own thoughts came back with each of them. */
  returned: number[];
  /** Why requests were refused since `forget`. */
  refused: string[];
  /** The handshakes' headers and the messages on WebSockets since `forget`. */
  handshakes: Headers[];
  messages: Record<string, unknown>[];
  /** Every event that went over a WebSocket since `forget`, as it was sent. */
  sent: string[];
  /** Whether WebSockets are taken, and how long a response on them takes. */
  sockets: { served: boolean; delayMs: number };
  forget(): void;
};

const MEMBERS = new Set([
  ...[
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "text",
    "include",
  ],
  ...[
    "prompt_cache_key",
    "client_metadata",
    "max_output_tokens",
    "store",
    "stream",
    "service_tier",
    "user",
    "metadata",
    "temperature",
    "top_p",
    "truncation",
  ],
]);

/**
 * A stand-in for OpenAI: reasoning models that call a tool twice at once and then answer. It refuses what the vendor refuses, of
 * chat completions in the words of the reports (pipecat-ai/pipecat#4043, tingly-dev/tingly-box#233).
 */
export function strictOpenAi(): StrictOpenAi {
  const seen = {
    paths: [] as string[],
    requests: [] as Request[],
    returned: [] as number[],
    refused: [] as string[],
    handshakes: [] as Headers[],
    messages: [] as Record<string, unknown>[],
    sent: [] as string[],
  };
  const sockets = { served: true, delayMs: 0 };
  const sealed = new Set<string>();
  let made = 0;

  const refusal = (request: Request): string | null => {
    const extra = Object.keys(request).find((name) => !MEMBERS.has(name));
    if (extra) return `Unknown parameter: '${extra}'.`;
    if ((request.max_output_tokens ?? 16) < 16)
      return "Invalid 'max_output_tokens': integer below minimum value.";
    if (request.temperature !== undefined)
      return "Unsupported parameter: 'temperature' is not supported with this model.";
    const fault = refusalByOpenAi(request as object as Record<string, unknown>, "responses");
    if (fault) return fault;
    const items = (typeof request.input === "string" ? [] : request.input) as Item[];
    const calls = items.filter(({ type }) => type === "function_call").map(({ call_id }) => call_id);
    const outputs = items.filter(({ type }) => type === "function_call_output").map(({ call_id }) => call_id);
    const open = calls.find((id) => !outputs.includes(id));
    if (open) return `No tool output found for function call ${open}.`;
    const thoughts = items.filter(({ type }) => type === "reasoning");
    if (thoughts.some(({ encrypted_content: one }) => one === undefined || !sealed.has(one)))
      return "The encrypted content could not be verified.";
    seen.returned.push(thoughts.length);
    return null;
  };

  const respond = (request: Request): Response => {
    seen.requests.push(request);
    const fault = refusal(request);
    if (fault) return refuse(fault);
    made += 1;
    const encrypted_content = `gAAAA-${made}`;
    sealed.add(encrypted_content);
    const summary = request.reasoning?.summary ? [{ type: "summary_text", text: "Let me see." }] : [];
    const items = (typeof request.input === "string" ? [] : request.input) as Item[];
    const said =
      isAnswered(items) || !offersTools(request)
        ? [
            {
              type: "message",
              id: `msg_${made}`,
              status: "completed",
              role: "assistant",
              content: [{ type: "output_text", text: "It rains.", annotations: [] }],
            },
          ]
        : callsIn(request, made);
    const output = [{ type: "reasoning", id: `rs_${made}`, summary, encrypted_content }, ...said];
    const usage = {
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
      output_tokens_details: { reasoning_tokens: 2 },
    };
    const response = {
      id: `resp_${made}`,
      object: "response",
      created_at: 1,
      model: request.model,
      status: "completed",
      store: false,
      output,
      usage,
    };
    return request.stream ? streamed(response) : Response.json(response);
  };

  const complete = (request: Chat, isPlain: boolean): Response => {
    if (/-codex/.test(request.model))
      return refuse(
        "This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?",
        404,
      );
    if (!isPlain && request.tools?.length)
      return refuse(
        `Function tools with reasoning_effort are not supported for ${request.model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
      );
    const fault =
      unsupported(request) ?? refusalByOpenAi(request as object as Record<string, unknown>, "chat");
    if (fault) return refuse(fault);
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const message = { role: "assistant", content: "It rains." };
    const head = { id: "1", model: request.model, usage };
    if (!request.stream)
      return Response.json({ ...head, choices: [{ index: 0, message, finish_reason: "stop" }] });
    const chunk = { ...head, choices: [{ index: 0, delta: message, finish_reason: "stop" }] };
    return events([JSON.stringify(chunk), "[DONE]"]);
  };

  const refuse = (message: string, status = 400, code: string | null = null): Response => {
    seen.refused.push(message);
    return Response.json(
      {
        error: { message, type: "invalid_request_error", param: null, code },
        request_id: "max_tokens-19999",
      },
      { status },
    );
  };

  /** A message of a WebSocket, on which the vendor keeps what it answered last (guide "WebSocket mode"). */
  const answerOn = async (socket: Bun.ServerWebSocket<Kept>, text: string) => {
    const { type, stream_id, ...asked } = JSON.parse(text);
    seen.messages.push({ type, ...(stream_id && { stream_id }), ...asked });
    const put = (event: object) => {
      const sent = JSON.stringify({ ...event, ...(stream_id && { stream_id }) });
      seen.sent.push(sent);
      socket.send(sent);
    };
    const fail = (code: string | null, message: string) =>
      put({
        type: "error",
        status: 400,
        error: { type: "invalid_request_error", code, message, param: null },
      });
    if (type !== "response.create" || "stream" in asked)
      return fail("unknown_parameter", "Unknown parameter: 'stream'.");
    const { previous_response_id: previous, ...request } = asked;
    const before = previous ? socket.data.get(previous) : [];
    if (!before)
      return fail("previous_response_not_found", `Previous response with id '${previous}' not found.`);
    const input = [...before, ...itemsOf(request)];
    const answer = respond({ ...request, input, stream: true });
    if (!answer.ok) return fail(null, (await answer.json()).error.message);
    await Bun.sleep(sockets.delayMs);
    for (const line of (await answer.text()).split("\n\n").filter(Boolean)) {
      const event = JSON.parse(line.slice("data: ".length));
      if (event.type === "response.completed")
        socket.data.set(event.response.id, [...input, ...event.response.output]);
      put(event);
    }
  };

  const server = Bun.serve<Kept>({
    hostname: "127.0.0.1",
    port: 0,
    websocket: { message: (socket, text) => void answerOn(socket, String(text)) },
    async fetch(http, self) {
      const { pathname } = new URL(http.url);
      if (http.headers.has("upgrade")) {
        if (!sockets.served || pathname !== "/v1/responses") return new Response(null, { status: 426 });
        seen.handshakes.push(new Headers(http.headers));
        return self.upgrade(http, { data: new Map() }) ? undefined : new Response(null, { status: 400 });
      }
      seen.paths.push(pathname);
      const request = await http.json();
      if (request.model.endsWith("-missing"))
        return refuse(`The model '${request.model}' does not exist.`, 404, "model_not_found");
      if (pathname === "/v1/responses") return respond(request);
      if (pathname === "/v1/responses/input_tokens")
        return Response.json({ object: "response.input_tokens", input_tokens: 11 });
      if (pathname.endsWith("/chat/completions")) return complete(request, pathname.startsWith("/plain"));
      return new Response("404 page not found", { status: 404 });
    },
  });
  atEnd(() => server.stop(true));
  return {
    url: `http://127.0.0.1:${server.port}`,
    ...seen,
    sockets,
    forget() {
      for (const list of Object.values(seen)) list.length = 0;
    },
  };
}

/** What OpenAI's models do not take in chat completions, in its words. */
function unsupported({ model, ...request }: Chat): string | null {
  const isPlain = model.startsWith("gpt-4");
  const limit = request.max_completion_tokens ?? request.max_tokens ?? 0;
  if (isPlain && request.reasoning_effort) return "Unrecognized request argument supplied: reasoning_effort";
  if (isPlain && limit > 16_384)
    return `max_tokens is too large: ${limit}. This model supports at most 16384 completion tokens, whereas you provided ${limit}.`;
  if (!isPlain && (request.temperature ?? 1) !== 1)
    return `Unsupported value: 'temperature' does not support ${request.temperature} with this model. Only the default (1) value is supported.`;
  if (model.endsWith("-strict")) return "The prompt is refused.";
  return null;
}

/** By the id of a response, the conversation that ends with it. */
type Kept = Map<string, Item[]>;

const itemsOf = ({ input }: { input: string | Item[] }): Item[] =>
  typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;

/** Whether the model called tools last; agents write more after the results. */
const isAnswered = (items: Item[]): boolean =>
  items.findLast(({ role = "assistant" }) => role === "assistant")?.type?.endsWith("_call_output") === true;

/** Codex has the tools of its newer models among the items, and has them called by a program. */
const offersTools = ({ tools = [], input }: Request): boolean =>
  tools.length > 0 || JSON.stringify(input).includes('"additional_tools"');

const PROGRAM = `const cities = ["Oslo", "Bergen"];
text(JSON.stringify(await Promise.all(cities.map((city) => tools.mcp__sky__weather({ city })))));`;

/** Calls of the tool that tells the weather, whatever its server is called and wherever it is offered. */
function callsIn({ tools = [], input }: Request, made: number): object[] {
  const called = (index: number) => ({ status: "completed", call_id: `call_${made}_${index}` });
  if (JSON.stringify(input).includes('"additional_tools"'))
    return [
      ...[
        { type: "custom_tool_call", id: `ctc_${made}`, ...called(0), namespace: "functions", name: "exec" },
      ],
    ].map((call) => ({ ...call, input: PROGRAM }));
  const names = tools.flatMap((tool) => (tool.type === "function" ? tool.name : []));
  const owner = tools.find(
    (tool) => tool.type === "namespace" && tool.tools.some(({ name }) => name === "weather"),
  );
  const namespace = owner?.type === "namespace" ? { namespace: owner.name } : {};
  const name = names.find((one) => one.endsWith("weather")) ?? "weather";
  return ["Oslo", "Bergen"].map((city, index) => ({
    ...{ type: "function_call", id: `fc_${made}_${index}`, ...called(index), ...namespace, name },
    arguments: JSON.stringify({ city }),
  }));
}

type Output = {
  type: "message" | "reasoning" | "function_call" | "custom_tool_call";
  id: string;
  summary?: { text: string }[];
  content?: { text: string }[];
  arguments?: string;
};

/** As the vendor streams it: each item opened, its parts, and the item whole. */
function streamed(response: { output: object[]; [member: string]: unknown }): Response {
  const list = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...(response.output as Output[]).flatMap((item, output_index) => {
      const at = { output_index, item_id: item.id };
      const empty = {
        message: { content: [] },
        reasoning: { summary: [] },
        function_call: { arguments: "" },
        custom_tool_call: { input: "" },
      }[item.type];
      return [
        { type: "response.output_item.added", output_index, item: { ...item, ...empty } },
        ...(item.summary ?? []).flatMap((part, summary_index) => [
          {
            type: "response.reasoning_summary_part.added",
            ...at,
            summary_index,
            part: { ...part, text: "" },
          },
          { type: "response.reasoning_summary_text.delta", ...at, summary_index, delta: part.text },
        ]),
        ...(item.content ?? []).flatMap((part, content_index) => [
          { type: "response.content_part.added", ...at, content_index, part: { ...part, text: "" } },
          { type: "response.output_text.delta", ...at, content_index, delta: part.text, logprobs: [] },
          { type: "response.output_text.done", ...at, content_index, text: part.text, logprobs: [] },
          { type: "response.content_part.done", ...at, content_index, part },
        ]),
        ...(item.arguments
          ? [
              { type: "response.function_call_arguments.delta", ...at, delta: item.arguments },
              { type: "response.function_call_arguments.done", ...at, arguments: item.arguments },
            ]
          : []),
        { type: "response.output_item.done", output_index, item },
      ];
    }),
    { type: "response.completed", response },
  ];
  return events(list.map((event, sequence_number) => JSON.stringify({ ...event, sequence_number })));
}

const events = (list: string[]): Response =>
  new Response(list.map((data) => `data: ${data}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
