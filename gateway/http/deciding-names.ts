import { words } from "#shared/words.ts";

/** Names that decide in one kind of object: what runs, costs or applies. None may repeat or have another spelling. */
export type DecidingNames = {
  names: ReadonlySet<string>;
  /** Google's camel-case `names`, which snake case may spell: a name without case and underscores to its spelling. */
  proto?: ReadonlyMap<string, string>;
  /** Members whose object, or the objects of whose list, decide too. */
  within?: ReadonlyMap<string, DecidingNames>;
  /** A member that decides only in an object of certain types. */
  ofType?: { member: string; applies(type: unknown): boolean; vocabulary: DecidingNames };
};

const setOf = (names: string): ReadonlySet<string> => new Set(words(names));

const MODEL: DecidingNames = { names: setOf("model") };

/** A tool of the provider's own. The `parameters` of all others are a JSON schema. */
export const isBuiltInTool = (type: unknown): boolean =>
  typeof type === "string" && type !== "function" && type !== "custom";

const TOOL: DecidingNames = {
  names: setOf("function input_schema model name parameters type"),
  within: new Map([["function", { names: setOf("model name parameters") }]]),
  ofType: { member: "parameters", applies: isBuiltInTool, vocabulary: MODEL },
};

/** The body of a model call, and the fields of a form. */
export const CALL: DecidingNames = {
  names: setOf(`
    arguments background best_of container conversation documents fallbacks functions input input_ids
    instructions max_completion_tokens max_output_tokens max_tokens mcp_servers messages metadata method
    model models n name negative_prompt params plugins previous_response_id prompt prompt_token_ids provider
    quality query response_format route service_tier size speed stream stream_format stream_options system
    tool_choice tools user
  `),
  within: new Map([
    ["container", { names: setOf("id") }],
    ["fallbacks", MODEL],
    ["tools", TOOL],
  ]),
};

/** Names that Google's servers accept in two spellings. */
const proto = (names: string, within: Readonly<Record<string, DecidingNames>> = {}): DecidingNames => ({
  names: setOf(names),
  proto: new Map(words(names).map((name) => [name.toLowerCase(), name])),
  within: new Map(Object.entries(within)),
});

const GEMINI_MEMBERS = `
  cachedContent content contents generateContentRequest generationConfig labels metadata model requests
  route safetySettings serviceTier store systemInstruction toolConfig tools user
`;

const GENERATION_CONFIG = proto(`
  candidateCount maxOutputTokens responseJsonSchema responseMimeType responseModalities responseSchema
  stopSequences thinkingConfig
`);

const GEMINI_TOOLS = `
  codeExecution computerUse fileSearch functionDeclarations googleMaps googleSearch googleSearchRetrieval
  mcpServers retrieval urlContext
`;
const GEMINI_TOOL = proto(GEMINI_TOOLS, {
  functionDeclarations: proto("name parameters parametersJsonSchema"),
});

const GEMINI_WITHIN = { generationConfig: GENERATION_CONFIG, tools: GEMINI_TOOL };

/** The body of a call in Gemini's format; a token count and a batch of embeddings hold calls of their own. */
export const GEMINI_CALL = proto(GEMINI_MEMBERS, {
  ...GEMINI_WITHIN,
  generateContentRequest: proto(GEMINI_MEMBERS, GEMINI_WITHIN),
  requests: proto("content model"),
});

const RESPONSE: DecidingNames = { names: setOf("input instructions max_output_tokens tools") };

/** What a client of the realtime API sends; the model of its transcriptions is two levels deeper. */
export const REALTIME_MESSAGE: DecidingNames = {
  names: setOf("event_id item max_output_tokens models response session type"),
  within: new Map([
    ["item", { names: setOf("content output arguments") }],
    ["response", RESPONSE],
    ["session", { names: new Set([...RESPONSE.names, "audio", "input_audio_transcription", "model"]) }],
  ]),
};

/** A line of a file of requests; its `body` is a call. */
export const BATCH_LINE: DecidingNames = { names: setOf("body custom_id method url") };

/** What creates a batch, in both vendors' form; the `params` of a request are a call. */
export const BATCH: DecidingNames = {
  names: setOf("completion_window endpoint input_file_id metadata requests user"),
  within: new Map([["requests", { names: setOf("custom_id params") }]]),
};

export const FILE_FORM: DecidingNames = { names: setOf("file purpose") };

/** A message of the Model Context Protocol. */
export const MCP_MESSAGE: DecidingNames = {
  names: setOf("error id jsonrpc method params result"),
  within: new Map([["params", { names: setOf("_meta arguments cursor name ref requestId task uri") }]]),
};

/** What an agent's hook sends: its own event, or a list of events. */
export const HOOK: DecidingNames = {
  names: setOf(`
    duration_ms events hook_event_name is_interrupt mcp_server prompt_id session_id tool_input tool_name
    tool_response tool_use_id turn_id
  `),
  within: new Map([
    ["mcp_server", { names: setOf("name") }],
    ["events", { names: setOf("client decision duration_ms id server session_id status tool ts") }],
  ]),
};
