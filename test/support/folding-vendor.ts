import { atEnd } from "./at-end.ts";
import { type FoldedJson, foldedName, parseFolded } from "./folded-json.ts";

export type FoldingVendor = {
  url: string;
  /** The models and tools that it ran, in order; `(none)` for a call that named none. */
  ran: string[];
  /** The texts of complete calls. */
  read: string[];
  /** The media types that it was sent. */
  types: string[];
  /** The model that answers name; null: the one that was asked for. */
  answersAs: string | null;
  close(): Promise<void>;
};

const memberOf = (value: FoldedJson | undefined, name: string): FoldedJson | undefined =>
  value instanceof Map ? value.get(name) : undefined;
const listOf = (value: FoldedJson | undefined): FoldedJson[] => (Array.isArray(value) ? value : []);

/** Every model that a call makes it run: its own, its fallbacks' and its tools'. */
function modelsOf(call: FoldedJson): string[] {
  const named = [
    memberOf(call, "model"),
    ...listOf(memberOf(call, "models")),
    ...listOf(memberOf(call, "fallbacks")).map((one) => memberOf(one, "model") ?? one),
    ...listOf(memberOf(call, "tools")).flatMap((tool) => [
      memberOf(tool, "model"),
      memberOf(memberOf(tool, "parameters"), "model"),
    ]),
  ];
  return named.filter((model) => typeof model === "string");
}

function textsOf(value: FoldedJson): string[] {
  if (typeof value === "string") return [value];
  return (value instanceof Map ? [...value.values()] : listOf(value)).flatMap(textsOf);
}

/**
 * Models, batches and tools behind a server that reads bodies as Go's `encoding/json` does: names of members in any
 * case, and the last of several.
 */
export function foldingVendor(): FoldingVendor {
  const ran: string[] = [];
  const read: string[] = [];
  const types: string[] = [];

  function run(call: FoldedJson): string {
    const models = modelsOf(call);
    ran.push(...(models.length > 0 ? models : ["(none)"]));
    read.push(...textsOf(call));
    return models[0] ?? "(none)";
  }

  function tool(message: FoldedJson): Response {
    if (memberOf(message, "method") === "tools/call") {
      ran.push(String(memberOf(memberOf(message, "params"), "name")));
    }
    const id = memberOf(message, "id");
    return Response.json({ jsonrpc: "2.0", id: id ?? null, result: { content: [], tools: [] } });
  }

  function lines(file: string): Response {
    for (const line of file.split("\n").filter(Boolean)) run(memberOf(parseFolded(line), "body") ?? null);
    return Response.json({ id: `file-${crypto.randomUUID()}`, object: "file", bytes: file.length });
  }

  async function form(request: Request): Promise<Response> {
    const fields = new Map<string, FoldedJson>();
    for (const [name, value] of await request.formData()) {
      const text = typeof value === "string" ? value : Buffer.from(await value.bytes()).toString("utf8");
      if (foldedName(name) === "file" && request.url.endsWith("/v1/files")) return lines(text);
      fields.set(foldedName(name), text);
    }
    return answer(run(fields));
  }

  const vendor = { ran, read, types, answersAs: null as string | null };
  const answer = (model: string): Response =>
    Response.json({
      id: "c",
      type: "message",
      role: "assistant",
      model: vendor.answersAs ?? model,
      choices: [],
      content: [],
      output: [],
      data: [],
      text: "",
      usage: {
        prompt_tokens: 1000,
        completion_tokens: 100,
        total_tokens: 1100,
        input_tokens: 1000,
        output_tokens: 100,
      },
    });

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const type = request.headers.get("content-type") ?? "";
      types.push(type);
      if (type.startsWith("multipart/")) return await form(request);
      const body = request.method === "POST" ? parseFolded(await request.text()) : null;
      if (pathname === "/mcp") return tool(body);
      if (pathname === "/v1/messages/batches") {
        for (const one of listOf(memberOf(body, "requests"))) run(memberOf(one, "params") ?? null);
        return Response.json({ id: `msgbatch_${crypto.randomUUID()}`, type: "message_batch" });
      }
      return answer(run(body));
    },
  });
  return Object.assign(vendor, { url: server.url.origin, close: atEnd(() => server.stop(true)) });
}
