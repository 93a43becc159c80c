import type Anthropic from "@anthropic-ai/sdk";
import { newId } from "#shared/ids.ts";
import { atEnd } from "./at-end.ts";
import { refusalByClaude, type SignedThoughts } from "./claude-refusals.ts";

type Request = Anthropic.MessageCreateParams;
/** What a script has the model say. */
type Said = { text: string } | { call: string; id: string; input: object };

export type StrictClaude = {
  /** Without a trailing slash. */
  url: string;
  /** Every request since `play`, refused ones included, in the order of arrival. */
  seen: Request[];
  /** Why requests were refused since `play`. */
  refused: string[];
  /** Sets what the model answers from now on. Where it may think, it first does so. */
  play(script: (request: Request) => Said[]): void;
};

/**
 * A stand-in for Anthropic's API that refuses what the vendor refuses, with its status, and takes back only thoughts
 * that it signed itself, unchanged.
 */
export function strictClaude(): StrictClaude {
  const signed: SignedThoughts = new Map();
  const seen: Request[] = [];
  const refused: string[] = [];
  let script: (request: Request) => Said[] = () => [];
  const think = (said: readonly Block[]) => {
    const signature = Buffer.from(`signature ${signed.size}`).toString("base64");
    const thinking = `Thought ${signed.size}.`;
    signed.set(signature, { thinking, next: said[0]?.type });
    return { type: "thinking", thinking, signature } as const;
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(http) {
      const request: Request = await http.json();
      seen.push(request);
      // Of a beta, which clients of the vendor's own ask for.
      const { context_management: _, ...rest } = request as Request & { context_management?: object };
      const message = refusalByClaude(
        http.headers.has("anthropic-beta") ? (rest as Request) : request,
        signed,
      );
      if (message !== null) {
        refused.push(message);
        return Response.json(
          { type: "error", error: { type: "invalid_request_error", message } },
          { status: 400 },
        );
      }
      const said = script(request).map(blockOf);
      const thoughts = request.thinking && request.thinking.type !== "disabled" ? [think(said)] : [];
      const content = [...thoughts, ...said];
      const answer = { ...head(request), content, stop_reason: reasonOf(content), stop_sequence: null };
      return request.stream
        ? new Response(eventsOf(answer), { headers: { "content-type": "text/event-stream" } })
        : Response.json(answer);
    },
  });
  atEnd(() => server.stop(true));
  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    refused,
    play(next) {
      script = next;
      seen.length = 0;
      refused.length = 0;
    },
  };
}

type Block =
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: object };

const blockOf = (said: Said): Block =>
  "text" in said
    ? { type: "text", text: said.text }
    : { type: "tool_use", id: said.id, name: said.call, input: said.input };

const reasonOf = (content: readonly Block[]) =>
  content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";

const head = ({ model }: Request) => ({
  id: `msg_${newId()}`,
  type: "message",
  role: "assistant",
  model,
  usage: { input_tokens: 21, output_tokens: 8 },
});

function eventsOf({ content, ...message }: ReturnType<typeof head> & { content: Block[] }): string {
  const blocks = content.flatMap((block, index) => {
    const [content_block, ...deltas] = partsOf(block);
    return [
      { type: "content_block_start", index, content_block },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ];
  });
  const events = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    ...blocks,
    { type: "message_delta", delta: { stop_reason: reasonOf(content) }, usage: message.usage },
    { type: "message_stop" },
  ];
  return events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join("");
}

/** The block as it begins, and its deltas. */
function partsOf(block: Block): object[] {
  switch (block.type) {
    case "thinking":
      return [
        { ...block, thinking: "", signature: "" },
        { type: "thinking_delta", thinking: block.thinking },
        { type: "signature_delta", signature: block.signature },
      ];
    case "text":
      return [{ ...block, text: "" }, ...halves(block.text).map((text) => ({ type: "text_delta", text }))];
    case "tool_use":
      return [
        { ...block, input: {} },
        ...halves(JSON.stringify(block.input)).map((text) => ({
          type: "input_json_delta",
          partial_json: text,
        })),
      ];
  }
}

const halves = (text: string): string[] => [text.slice(0, text.length / 2), text.slice(text.length / 2)];
