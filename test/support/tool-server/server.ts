import {
  createMcpHandler,
  type EventStore,
  inputRequired,
  isLegacyRequest,
  type JSONRPCMessage,
  ProtocolError,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { atEnd } from "#test/support/at-end.ts";
import { embedded, image, inputOf, TOOLS } from "./tools.ts";

type ToolServerSeen = { method: string; headers: Record<string, string>; body: string };

export type TestToolServer = {
  url: string;
  /** Every request as it arrived. */
  seen: ToolServerSeen[];
  /** Ends all sessions, as a server that starts anew does. */
  forget(): void;
  stop(): Promise<void>;
};

type Options = {
  /** What it speaks: sessions from `initialize` on, requests that stand alone, or either. */
  eras?: "both" | "legacy" | "modern";
  port?: number;
  /** Sees a request first, and may answer it. */
  before?(request: Request): Response | null;
};

const SELF = { name: "everything", version: "1.0.0" };
const STATIC = "test://static-text";

/** A tool server that has everything the protocol knows, on loopback: the conformance suite's tools, and a few of ours. */
export function startToolServer({ eras = "both", port = 0, before }: Options = {}): TestToolServer {
  const seen: ToolServerSeen[] = [];
  const sessions = sessionful();
  const modern = createMcpHandler(() => everything(), { legacy: "reject" });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 0,
    async fetch(request) {
      const body = request.method === "POST" ? await request.clone().text() : "";
      seen.push({ method: request.method, headers: request.headers.toJSON(), body });
      const answered = before?.(request);
      if (answered) return answered;
      const isLegacy = await isLegacyRequest(request);
      if (isLegacy ? eras === "modern" : eras === "legacy") {
        return isLegacy ? await modern.fetch(request) : new Response("what is this?", { status: 400 });
      }
      return isLegacy ? await sessions.fetch(request) : await modern.fetch(request);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    forget: sessions.forget,
    seen,
    stop: atEnd(async () => {
      await modern.close();
      await server.stop(true);
    }),
  };
}

/** The older revisions, with sessions and with events that can be fetched again. */
function sessionful() {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return {
    forget: () => sessions.clear(),
    async fetch(request: Request): Promise<Response> {
      const id = request.headers.get("mcp-session-id");
      if (id !== null) {
        const known = sessions.get(id);
        if (known) return await known.handleRequest(request);
        const error = { code: -32001, message: "Session not found" };
        return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
      }
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (made) => void sessions.set(made, transport),
        onsessionclosed: (ended) => void sessions.delete(ended),
        eventStore: events(),
        retryInterval: 50,
      });
      await everything().connect(transport);
      return await transport.handleRequest(request);
    },
  };
}

function events(): EventStore {
  const kept: { id: string; stream: string; message: JSONRPCMessage }[] = [];
  return {
    async storeEvent(stream, message) {
      const id = `${stream}_${kept.length}`;
      kept.push({ id, stream, message });
      return id;
    },
    async replayEventsAfter(lastEventId, { send }) {
      const at = kept.findIndex(({ id }) => id === lastEventId);
      const stream = kept[at]?.stream ?? "";
      for (const event of kept.slice(at + 1)) {
        if (event.stream === stream && Object.keys(event.message).length > 0) {
          await send(event.id, event.message);
        }
      }
      return stream;
    },
  };
}

function everything(): Server {
  const server = new Server(SELF, {
    capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {}, logging: {} },
  });
  server.setRequestHandler("tools/list", () => ({
    tools: Object.keys(TOOLS).map((name) => ({
      name,
      description: `Tests ${name}`,
      inputSchema: inputOf(name),
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, ctx) => {
    const tool = TOOLS[params.name];
    if (!tool) throw new ProtocolError(-32602, `Unknown tool: ${params.name}`);
    return (await tool.run(params.arguments ?? {}, ctx)) as never;
  });
  withPrompts(server);
  withResources(server);
  server.setRequestHandler("completion/complete", () => ({
    completion: { values: ["paris", "park"], total: 2 },
  }));
  return server;
}

const PROMPTS: Record<string, string[]> = {
  test_simple_prompt: [],
  test_prompt_with_arguments: ["arg1", "arg2"],
  test_prompt_with_embedded_resource: ["resourceUri"],
  test_prompt_with_image: [],
  test_input_required_result_prompt: [],
};

function withPrompts(server: Server): void {
  server.setRequestHandler("prompts/list", () => ({
    prompts: Object.entries(PROMPTS).map(([name, names]) => ({
      description: `Tests ${name}`,
      name,
      arguments: names.map((argument) => ({ name: argument, description: argument, required: true })),
    })),
  }));
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args = {} } }, ctx) => {
    const said = (content: object) => ({ role: "user" as const, content: content as never });
    const words = { type: "text", text: `A prompt of ${Object.values(args).join(" and ")}` };
    if (!Object.hasOwn(PROMPTS, name)) throw new ProtocolError(-32602, "Unknown prompt");
    if (name === "test_prompt_with_embedded_resource") {
      return { messages: [said(embedded(args["resourceUri"] ?? "", "embedded")), said(words)] };
    }
    if (name === "test_prompt_with_image") return { messages: [said(image), said(words)] };
    if (name === "test_input_required_result_prompt" && !ctx.mcpReq.inputResponses) {
      const requestedSchema = {
        type: "object" as const,
        properties: { context: { type: "string" as const } },
      };
      const context = inputRequired.elicit({ message: "Which context?", requestedSchema });
      return inputRequired({ inputRequests: { context } }) as never;
    }
    return { messages: [said(words)] };
  });
}

function withResources(server: Server): void {
  server.setRequestHandler("resources/list", () => ({
    resources: [
      { uri: STATIC, name: "Static text", mimeType: "text/plain" },
      { uri: "test://static-binary", name: "Static binary", mimeType: "image/png" },
      { uri: "test://watched-resource", name: "Watched", mimeType: "text/plain" },
    ],
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [
      { uriTemplate: "test://template/{id}/data", name: "Template", mimeType: "application/json" },
    ],
  }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
    if (id !== undefined) {
      const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return { contents: [{ uri, mimeType: "application/json", text }] };
    }
    if (uri === "test://static-binary")
      return { contents: [{ uri, mimeType: "image/png", blob: image.data }] };
    if (uri === STATIC || uri === "test://watched-resource") {
      return {
        contents: [{ uri, mimeType: "text/plain", text: "This is the content of the static text resource." }],
      };
    }
    throw new ProtocolError(-32602, "Resource not found", { uri });
  });
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
}
