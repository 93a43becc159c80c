import {
  type CallToolResult,
  createRequestStateCodec,
  type ElicitInputParams,
  inputRequired,
  ProtocolError,
  type Result,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";

/** A tool as the conformance suite asks for it, in as few words as it takes. */
type Offered = {
  input?: Record<string, object>;
  run(args: Record<string, unknown>, ctx: ServerContext): Promise<Result> | Result;
};

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const text = (words: string): CallToolResult => ({ content: [{ type: "text", text: words }] });
export const image = { type: "image" as const, data: PIXEL, mimeType: "image/png" };
export const embedded = (uri: string, words: string, mimeType = "text/plain") => ({
  type: "resource" as const,
  resource: { uri, mimeType, text: words },
});

const isModern = (ctx: ServerContext): boolean => ctx.mcpReq.envelope !== undefined;
const answersOf = ({ mcpReq }: ServerContext): Record<string, unknown> => mcpReq.inputResponses ?? {};
const properties = (names: Record<string, object>) => ({ type: "object" as const, properties: names });
const form = (message: string, names: Record<string, object>): ElicitInputParams => ({
  message,
  requestedSchema: properties(names) as ElicitInputParams["requestedSchema"],
});

/** Asks by a request of its own where the revision has them. */
async function elicited(ctx: ServerContext, asked: ElicitInputParams): Promise<CallToolResult> {
  const answer = await ctx.mcpReq.elicitInput(asked as Parameters<typeof ctx.mcpReq.elicitInput>[0]);
  return text(`Answered: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
}

async function notices(ctx: ServerContext): Promise<CallToolResult> {
  for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
    await ctx.mcpReq.log("info", data);
    await Bun.sleep(20);
  }
  return text("noticed");
}

const STRING = { type: "string" };
const ENUMS = {
  untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
  titledSingle: {
    type: "string",
    oneOf: [
      { const: "value1", title: "First Option" },
      { const: "value2", title: "Second Option" },
      { const: "value3", title: "Third Option" },
    ],
  },
  legacyEnum: {
    type: "string",
    enum: ["opt1", "opt2", "opt3"],
    enumNames: ["Option One", "Option Two", "Option Three"],
  },
  untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
  titledMulti: {
    type: "array",
    items: {
      anyOf: [
        { const: "value1", title: "First Choice" },
        { const: "value2", title: "Second Choice" },
        { const: "value3", title: "Third Choice" },
      ],
    },
  },
};
const DEFAULTS = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};

const codec = createRequestStateCodec({ key: "a-key-of-thirty-two-bytes-in-all!" });
const state = (step: number, ctx: ServerContext) => codec.mint({ step }, ctx);

async function stepOf(ctx: ServerContext): Promise<number> {
  const raw: unknown = ctx.mcpReq.requestState();
  if (typeof raw !== "string") return 0;
  try {
    const { step } = (await codec.verify(raw, ctx)) as { step: number };
    return step;
  } catch {
    throw new ProtocolError(-32602, "Invalid requestState");
  }
}

const askName = { user_name: inputRequired.elicit(form("What is your name?", { name: STRING })) };
const askSample = {
  capital: inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: "What is the capital of France?" } }],
    maxTokens: 100,
  }),
};
const askRoots = { client_roots: inputRequired.listRoots() };

/** Done once the answers named are there; asks for them till then. */
const asks = (requests: Parameters<typeof inputRequired>[0]["inputRequests"] = {}): Offered => ({
  run: (_, ctx) =>
    Object.keys(requests).every((name) => name in answersOf(ctx))
      ? text(`Given: ${JSON.stringify(answersOf(ctx))}`)
      : inputRequired({ inputRequests: requests }),
});

const withState: Offered = {
  run: async (_, ctx) =>
    (await stepOf(ctx)) > 0 && "confirm" in answersOf(ctx)
      ? text("state-ok")
      : inputRequired({
          inputRequests: { confirm: inputRequired.elicit(form("Confirm?", { ok: { type: "boolean" } })) },
          requestState: await state(1, ctx),
        }),
};

export const TOOLS: Record<string, Offered> = {
  test_simple_text: { run: () => text("This is a simple text response for testing.") },
  test_image_content: { run: () => ({ content: [image] }) },
  test_audio_content: {
    run: () => ({ content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }] }),
  },
  test_embedded_resource: {
    run: () => ({ content: [embedded("test://embedded-resource", "This is an embedded resource content.")] }),
  },
  test_multiple_content_types: {
    run: () => ({
      content: [
        { type: "text", text: "Multiple content types test:" },
        image,
        embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
      ],
    }),
  },
  test_tool_with_logging: { run: (_, ctx) => notices(ctx) },
  test_logging_tool: { run: (_, ctx) => notices(ctx) },
  test_tool_with_progress: {
    run: async (_, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken === undefined) break;
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 100 },
        });
        await Bun.sleep(20);
      }
      return text(String(progressToken));
    },
  },
  test_error_handling: {
    run: () => ({ ...text("This tool intentionally returns an error for testing"), isError: true }),
  },
  test_reconnection: {
    run: async (_, ctx) => {
      ctx.http?.closeSSE?.();
      await Bun.sleep(100);
      return text("Reconnection test completed successfully.");
    },
  },
  test_sampling: {
    input: { prompt: STRING },
    run: async ({ prompt }, ctx) => {
      const { content } = await ctx.mcpReq.requestSampling({
        messages: [{ role: "user", content: { type: "text", text: String(prompt) } }],
        maxTokens: 100,
      });
      return text(`LLM response: ${JSON.stringify(content)}`);
    },
  },
  test_elicitation: {
    input: { message: STRING },
    run: ({ message }, ctx) => elicited(ctx, form(String(message), { response: STRING })),
  },
  test_elicitation_sep1034_defaults: { run: (_, ctx) => elicited(ctx, form("Defaults", DEFAULTS)) },
  test_elicitation_sep1330_enums: { run: (_, ctx) => elicited(ctx, form("Enums", ENUMS)) },
  test_streaming_elicitation: asks(askName),
  test_missing_capability: asks(askSample),
  json_schema_2020_12_tool: { run: (args) => text(JSON.stringify(args)) },
  test_custom_headers: {
    input: { region: { type: "string", "x-mcp-header": "Region" } },
    run: ({ region }) => text(`region ${region}`),
  },
  test_input_required_result_elicitation: asks(askName),
  test_input_required_result_sampling: asks(askSample),
  test_input_required_result_list_roots: asks(askRoots),
  test_input_required_result_multiple_inputs: {
    run: async (_, ctx) =>
      Object.keys(answersOf(ctx)).length === 3
        ? text("all given")
        : inputRequired({
            inputRequests: { ...askName, ...askSample, ...askRoots },
            requestState: await state(1, ctx),
          }),
  },
  test_input_required_result_request_state: withState,
  test_input_required_result_tampered_state: withState,
  test_input_required_result_multi_round: {
    run: async (_, ctx) => {
      const step = await stepOf(ctx);
      if (step === 2) return text("Both rounds are done.");
      const asked =
        step === 0 ? askName : { colour: inputRequired.elicit(form("Colour?", { colour: STRING })) };
      return inputRequired({ inputRequests: asked, requestState: await state(step + 1, ctx) });
    },
  },
  test_input_required_result_capabilities: {
    run: (_, ctx) => {
      const envelope: Record<string, unknown> = { ...ctx.mcpReq.envelope };
      const capabilities = JSON.stringify(envelope["io.modelcontextprotocol/clientCapabilities"] ?? {});
      return inputRequired({ inputRequests: capabilities.includes("elicitation") ? askName : askSample });
    },
  },
  /** Runs until it is cancelled or a minute is over, and tells of it now and then. */
  wait: {
    run: async (_, ctx) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      ctx.mcpReq.signal.addEventListener("abort", () => resolve());
      await Promise.race([promise, Bun.sleep(60_000)]);
      return text(isModern(ctx) ? "waited" : "waited long");
    },
  },
  echo: { input: { words: STRING }, run: ({ words }) => text(String(words)) },
  break_off: {
    run: () => {
      throw new ProtocolError(-32603, "it broke");
    },
  },
};

const SCHEMA_2020 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object" as const,
  $defs: { address: { type: "object", properties: { street: STRING, city: STRING } } },
  properties: { name: STRING, address: { $ref: "#/$defs/address" } },
  additionalProperties: false,
};

export const inputOf = (name: string): Tool["inputSchema"] =>
  (name === "json_schema_2020_12_tool" ? SCHEMA_2020 : properties(TOOLS[name]?.input ?? {})) as never;
