import type OpenAI from "openai";
import { newId } from "#shared/ids.ts";
import { atEnd } from "./at-end.ts";

type Request = OpenAI.ChatCompletionCreateParams;
type Vendor = "moonshot" | "deepseek" | "openrouter";
type Said = { reasoning_content?: string; reasoning_details?: object[]; tool_calls?: object[] };

export type StrictChat = {
  /** A vendor's root is its name below it. */
  url: string;
  /** Every request since `forget`. */
  requests: Request[];
  /** How many of its own thoughts came back with each request since `forget`. */
  returned: number[];
  /** Why requests were refused since `forget`. */
  refused: string[];
  forget(): void;
};

const RULES: Readonly<Record<Vendor, (message: Said, index: number) => string | null>> = {
  // github.com/QuantumNous/new-api/issues/3121
  moonshot: ({ tool_calls, reasoning_content }, index) =>
    tool_calls && !reasoning_content
      ? `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`
      : null,
  // api-docs.deepseek.com, "Thinking mode"
  deepseek: ({ tool_calls, reasoning_content }) =>
    tool_calls && !reasoning_content
      ? "The `reasoning_content` in the thinking mode must be passed back to the API."
      : null,
  // openrouter.ai, "Preserving reasoning blocks"
  openrouter: ({ reasoning_details = [] }) =>
    reasoning_details.every((one) => DETAILS.some((made) => Bun.deepEquals(made, one)))
      ? null
      : "Invalid `signature` in `thinking` block",
};

const THOUGHT = "Let me see.";
const DETAILS = [
  {
    type: "reasoning.text",
    text: THOUGHT,
    signature: "c2ln",
    id: "r-1",
    format: "anthropic-claude-v1",
    index: 0,
  },
  { type: "reasoning.encrypted", data: "b3BhcXVl", id: "r-2", format: "anthropic-claude-v1", index: 1 },
];

/** A stand-in for vendors of the chat format that think before they speak, and want their thoughts back as they document it. */
export function strictChat({ parallel = 1 }: { parallel?: number } = {}): StrictChat {
  const requests: Request[] = [];
  const returned: number[] = [];
  const refused: string[] = [];
  let calls = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(http) {
      const vendor = new URL(http.url).pathname.split("/")[1] as Vendor;
      if (!http.url.endsWith("/chat/completions")) return new Response("Not Found", { status: 404 });
      const request: Request = await http.json();
      requests.push(request);
      const said = request.messages.map((message) => (message.role === "assistant" ? (message as Said) : {}));
      const isOfModel = (_: Said, index: number) => request.messages[index]?.role === "assistant";
      const fault = said.map((message, index) => RULES[vendor](message, index)).find((one) => one !== null);
      if (fault) {
        refused.push(fault);
        return Response.json({ error: { message: fault, type: "invalid_request_error" } }, { status: 400 });
      }
      const own = (one: Said) =>
        one.reasoning_content === THOUGHT || one.reasoning_details?.length === DETAILS.length;
      returned.push(said.filter(own).length);
      const thought =
        vendor === "openrouter"
          ? { reasoning: THOUGHT, reasoning_details: DETAILS }
          : { reasoning_content: THOUGHT };
      const calling = Array.from({ length: parallel }, (_, index) => ({
        id: `call_${++calls}`,
        type: "function",
        function: { name: toolOf(request), arguments: JSON.stringify({ city: "AB"[index] }) },
      }));
      // Agents write more after the results.
      const isAnswered = said.findLast(isOfModel)?.tool_calls !== undefined || !request.tools?.length;
      const rest = isAnswered ? { content: "It rains." } : { content: null, tool_calls: calling };
      return answered(request, { ...thought, ...rest }, isAnswered ? "stop" : "tool_calls");
    },
  });
  atEnd(() => server.stop(true));
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    returned,
    refused,
    forget() {
      for (const list of [requests, returned, refused]) list.length = 0;
    },
  };
}

/** The tool of the weather, whatever its server is called; else the first. */
function toolOf({ tools = [] }: Request): string {
  const names = tools.flatMap((tool) => (tool.type === "function" ? tool.function.name : []));
  return names.find((name) => name.endsWith("weather")) ?? names[0] ?? "weather";
}

type Message = Said & { content: string | null; reasoning?: string };

/** Whole, or in pieces as the vendors stream them: a thought in halves, its signature at the end. */
function answered({ model, stream }: Request, message: Message, finish_reason: string): Response {
  const head = { id: newId(), model };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  if (!stream) {
    const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason }];
    return Response.json({ ...head, choices, usage });
  }
  const { tool_calls, content, reasoning_content, reasoning_details } = message;
  const halves = [THOUGHT.slice(0, 4), THOUGHT.slice(4)];
  const [text, sealed] = reasoning_details ?? [];
  const deltas = [
    { role: "assistant", content: "" },
    ...(reasoning_content ? halves.map((half) => ({ reasoning_content: half })) : []),
    ...(text
      ? halves.map((half) => ({
          reasoning: half,
          reasoning_details: [{ ...text, text: half, signature: undefined }],
        }))
      : []),
    ...(text
      ? [{ content: "", reasoning_details: [{ ...text, text: "" }] }, { reasoning_details: [sealed] }]
      : []),
    ...(content === null ? [] : [{ content }]),
    ...(tool_calls ?? []).map((call, index) => ({ tool_calls: [{ index, ...call }] })),
  ];
  const chunks = [
    ...deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta }] })),
    { ...head, choices: [{ index: 0, delta: {}, finish_reason }], usage },
  ];
  const events = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"];
  return new Response(events.map((data) => `data: ${data}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
}
