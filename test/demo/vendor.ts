import { type Tokens, USES } from "./story.ts";

/** A stand-in for both vendors on loopback: it speaks their wires and tells the usage that the story says. */
export type Vendor = { openaiUrl: string; anthropicUrl: string; close(): Promise<void> };

export function startVendor(): Vendor {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      const asked: unknown = await request.json().catch(() => null);
      const wire = pathname === "/v1/messages" ? MESSAGES : pathname === "/v1/chat/completions" ? CHAT : null;
      const turn = wire && turnOf(JSON.stringify(asked));
      if (!wire || !turn) return Response.json({ error: { message: "not in the story" } }, { status: 404 });
      return wire(turn, asked as Asked);
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  return { openaiUrl: `${url}/v1`, anthropicUrl: url, close: () => server.stop(true) };
}

/** The text that a use of the story begins with; the vendor finds the use by it. */
export const promptOf = (use: number): string => `Step ${use} of the story.`;

type Asked = { model: string; stream?: boolean; stream_options?: { include_usage?: boolean } };
type Turn = { id: string; tokens: Tokens; callsTool: boolean };

/** An SDK may send the tool's result alone, with the thread that it continues: then the tool call's id tells the use. */
function turnOf(body: string): Turn | null {
  const [, step, called] = /Step (\d+) of the story\.|(?:toolu|call)_(\d+)-\d/.exec(body) ?? [];
  const use = Number(step ?? called ?? Number.NaN);
  const turns = USES[use]?.turns ?? [];
  const answered = /"role":"tool"|"type":"tool_result"/.test(body) ? 1 : 0;
  const tokens = turns[answered];
  return tokens ? { id: `${use}-${answered}`, tokens, callsTool: answered < turns.length - 1 } : null;
}

const TEXT = "The tests pass now.";
const TOOL = { name: "run_tests", arguments: '{"suite":"unit"}' };

function CHAT({ id, tokens, callsTool }: Turn, { model, stream, stream_options }: Asked): Response {
  const prompt_tokens = tokens.input + tokens.cacheRead;
  const usage = {
    prompt_tokens,
    completion_tokens: tokens.output,
    total_tokens: prompt_tokens + tokens.output,
    prompt_tokens_details: { cached_tokens: tokens.cacheRead },
  };
  const common = { id: `chatcmpl-${id}`, created: 1_763_000_000, model };
  const tool_calls = [{ index: 0, id: `call_${id}`, type: "function", function: TOOL }];
  const said = callsTool ? { content: null, tool_calls } : { content: TEXT };
  const finish_reason = callsTool ? "tool_calls" : "stop";
  const headers = { "x-request-id": `req_${id}` };
  if (stream !== true) {
    const message = { role: "assistant", ...said };
    const choices = [{ index: 0, message, finish_reason }];
    return Response.json({ ...common, object: "chat.completion", choices, usage }, { headers });
  }
  const chunk = (delta: object, finish: string | null = null) => ({
    ...common,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const words = (TEXT.match(/\S+\s*/g) ?? []).map((word) => chunk({ content: word }));
  const body = callsTool ? [chunk(said)] : words;
  const last = stream_options?.include_usage
    ? [{ ...common, object: "chat.completion.chunk", choices: [], usage }]
    : [];
  const events = [chunk({ role: "assistant", content: "" }), ...body, chunk({}, finish_reason), ...last];
  const lines = [...events.map((event) => JSON.stringify(event)), "[DONE]"].map((it) => `data: ${it}\n\n`);
  return streamed(lines, headers);
}

function MESSAGES({ id, tokens, callsTool }: Turn, { model, stream }: Asked): Response {
  const input = {
    input_tokens: tokens.input,
    cache_read_input_tokens: tokens.cacheRead,
    cache_creation_input_tokens: tokens.cacheWrite,
  };
  const block = callsTool
    ? { type: "tool_use", id: `toolu_${id}`, name: TOOL.name, input: JSON.parse(TOOL.arguments) }
    : { type: "text", text: TEXT };
  const stop_reason = callsTool ? "tool_use" : "end_turn";
  const common = { id: `msg_${id}`, type: "message", role: "assistant", model, stop_sequence: null };
  const headers = { "request-id": `req_${id}` };
  if (stream !== true) {
    const usage = { ...input, output_tokens: tokens.output };
    return Response.json({ ...common, content: [block], stop_reason, usage }, { headers });
  }
  const start = callsTool ? { ...block, input: {} } : { type: "text", text: "" };
  const deltas = callsTool
    ? [{ type: "input_json_delta", partial_json: TOOL.arguments }]
    : (TEXT.match(/\S+\s*/g) ?? []).map((text) => ({ type: "text_delta", text }));
  const events = [
    {
      type: "message_start",
      message: { ...common, content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } },
    },
    { type: "content_block_start", index: 0, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: tokens.output },
    },
    { type: "message_stop" },
  ];
  return streamed(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
    headers,
  );
}

/** One piece after another, as a model that is still thinking sends them. */
function streamed(pieces: readonly string[], headers: Record<string, string>): Response {
  const body = new ReadableStream({
    async start(controller) {
      for (const piece of pieces) {
        controller.enqueue(new TextEncoder().encode(piece));
        await Bun.sleep(5);
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { ...headers, "content-type": "text/event-stream" } });
}
