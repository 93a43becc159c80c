import type Anthropic from "@anthropic-ai/sdk";

type Request = Anthropic.MessageCreateParams;
type Blocks = Anthropic.ContentBlockParam[];
/** By their signatures, thoughts and the type of the block after them. */
export type SignedThoughts = Map<string, { thinking: string; next: string | undefined }>;

/**
 * Why Anthropic's API refuses a request; null if it takes it. `signed` has the thoughts that the model had, by their
 * signatures. Source: the vendor's reference of the messages endpoint, of extended thinking, and of structured outputs.
 */
export function refusalByClaude(request: Request, signed: SignedThoughts): string | null {
  for (const rule of RULES) {
    const reason = rule(request, signed);
    if (reason) return reason;
  }
  return null;
}

const MEMBERS = new Set([
  ...["model", "max_tokens", "messages", "system", "metadata", "stop_sequences", "stream", "temperature"],
  ...["top_k", "top_p", "tools", "tool_choice", "thinking", "output_config", "service_tier", "cache_control"],
]);
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ID = /^[a-zA-Z0-9_-]+$/;

const blocksOf = ({ content }: Anthropic.MessageParam): Blocks =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;
const allBlocks = ({ messages }: Request): Blocks => messages.flatMap(blocksOf);
const thinks = ({ thinking }: Request): boolean => thinking !== undefined && thinking.type !== "disabled";
/** Models before the effort: they think by a budget, and each turn of a tool loop must begin with thoughts. */
const isBudgeted = ({ model }: Request): boolean => /-(?:3-|4-[0-5](?:-|$)|4(?:-20|$))/.test(model);

const texts = (request: Request): string[] => {
  const { system = [] } = request;
  const blocks = [...allBlocks(request), ...(typeof system === "string" ? [] : system)];
  return [
    ...(typeof system === "string" ? [system] : []),
    ...blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])),
  ];
};

const BLOCK_MEMBERS: Readonly<Record<string, string[]>> = {
  text: ["text", "cache_control", "citations"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
  tool_use: ["id", "name", "input", "cache_control", "caller"],
  tool_result: ["tool_use_id", "content", "is_error", "cache_control"],
  image: ["source", "cache_control"],
  tool: [
    ...["name", "description", "input_schema", "strict", "cache_control", "defer_loading", "allowed_callers"],
    ...["input_examples", "eager_input_streaming", "max_uses", "allowed_domains", "blocked_domains"],
    "user_location",
  ],
};

const RULES: readonly ((request: Request, signed: SignedThoughts) => string | false | null | undefined)[] = [
  (request) => {
    const extra = Object.keys(request).find((name) => !MEMBERS.has(name));
    return extra !== undefined && `${extra}: Extra inputs are not permitted`;
  },
  ({ max_tokens }) => !(max_tokens > 0) && "max_tokens: Field required",
  ({ messages: [first] }) =>
    first
      ? first.role !== "user" && 'messages: first message must use the "user" role'
      : "messages: at least one message is required",
  (request) => {
    const marks =
      JSON.stringify([request.system, request.tools, request.messages]).match(/"cache_control":\{/g)
        ?.length ?? 0;
    return marks > 4 && `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`;
  },
  (request) => {
    const names = (request.tools ?? []).map((tool) => ("name" in tool ? tool.name : ""));
    const called = allBlocks(request).flatMap((block) => (block.type === "tool_use" ? block.name : []));
    if (![...names, ...called].every((name) => NAME.test(name)))
      return "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'";
    return new Set(names).size !== names.length && "tools: Tool names must be unique.";
  },
  (request) =>
    !request.tools?.length &&
    allBlocks(request).some(({ type }) => type === "tool_use") &&
    "Requests which include `tool_use` or `tool_result` blocks must define tools",
  (request) =>
    "temperature" in request &&
    "top_p" in request &&
    "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
  ({ tools = [], tool_choice: choice }) =>
    (choice && tools.length === 0 && "tool_choice may only be specified while providing tools.") ||
    (choice?.type === "tool" &&
      !tools.some((tool) => "name" in tool && tool.name === choice.name) &&
      `Tool '${choice.name}' not found in provided tools`),
  (request) =>
    allBlocks(request).some((block) => block.type === "text" && block.text === "") &&
    "messages: text content blocks must be non-empty",
  (request) =>
    texts(request).some((text) => text.trim() === "") &&
    "messages: text content blocks must contain non-whitespace text",
  ({ stop_sequences: stops = [] }) =>
    stops.some((stop) => stop.trim() === "") &&
    "stop_sequences: each stop sequence must contain non-whitespace",
  (request) => {
    const blocks = [
      ...allBlocks(request),
      ...(request.tools ?? []).map((tool) => ({ ...tool, type: "tool" })),
    ];
    for (const block of blocks) {
      const known = BLOCK_MEMBERS[block.type];
      const extra = known && Object.keys(block).find((name) => name !== "type" && !known.includes(name));
      if (extra) return `messages: ${block.type}.${extra}: Extra inputs are not permitted`;
    }
    return false;
  },
  (request) => {
    const last = request.messages.at(-1);
    if (!last || last.role === "user") return false;
    if (!isBudgeted(request)) return "This model does not support assistant message prefill.";
    if (thinks(request)) return "Prefilling assistant responses is not supported with extended thinking.";
    const text = blocksOf(last).at(-1);
    return text?.type === "text" && /\s$/.test(text.text)
      ? "messages: final assistant content cannot end with trailing whitespace"
      : false;
  },
  (request) => {
    const ids = allBlocks(request).flatMap((block) => (block.type === "tool_use" ? block.id : []));
    return new Set(ids).size < ids.length && "messages: `tool_use` ids must be unique";
  },
  ({ messages }) =>
    messages.some((message, index) => {
      const uses = blocksOf(message).flatMap((block) => (block.type === "tool_use" ? block.id : []));
      const next = messages[index + 1];
      const results = (next ? blocksOf(next) : []).flatMap((block) =>
        block.type === "tool_result" ? block.tool_use_id : [],
      );
      return !uses.every((id) => ID.test(id) && results.includes(id));
    }) && "`tool_use` ids were found without `tool_result` blocks immediately after",
  (request, signed) =>
    allBlocks(request).some(
      (block) => block.type === "thinking" && signed.get(block.signature)?.thinking !== block.thinking,
    ) && "Invalid `signature` in `thinking` block",
  // A client may drop a text, so only the order of what is left counts.
  (request, signed) =>
    request.messages.map(blocksOf).some((blocks) =>
      blocks.some((block, index) => {
        const next = block.type === "thinking" ? signed.get(block.signature)?.next : undefined;
        return next !== undefined && blocks.slice(0, index).some(({ type }) => type === next);
      }),
    ) &&
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
  (request) =>
    thinks(request) &&
    (request.tool_choice?.type === "any" || request.tool_choice?.type === "tool") &&
    "Thinking may not be enabled when tool_choice forces tool use.",
  (request) =>
    thinks(request) &&
    ("temperature" in request ? request.temperature : 1) !== 1 &&
    "`temperature` may only be set to 1 when thinking is enabled",
  ({ thinking, max_tokens }) =>
    thinking?.type === "enabled" &&
    (thinking.budget_tokens < 1024 || thinking.budget_tokens >= max_tokens) &&
    "`max_tokens` must be greater than `thinking.budget_tokens`",
  (request) =>
    isBudgeted(request) &&
    (request.thinking?.type === "adaptive" || Boolean(request.output_config?.effort)) &&
    "adaptive thinking is not supported on this model",
  (request) =>
    request.thinking?.type === "enabled" &&
    loopTurns(request).some((turn) => !/thinking$/.test(turn[0]?.type ?? "")) &&
    "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block",
  ({ output_config: config }) => config?.format && schemaRefusal(config.format.schema),
  ({ tools = [] }) => {
    const strict = tools.flatMap((tool) =>
      "input_schema" in tool && tool.strict ? [tool.input_schema] : [],
    );
    if (strict.length > 20) return `Too many strict tools (${strict.length}). The maximum is 20.`;
    return strict.map(schemaRefusal).find((reason) => reason !== false) ?? false;
  },
];

/** What the model said since the user last asked. */
function loopTurns({ messages }: Request): Blocks[] {
  const asked = messages.findLastIndex(
    (message) => message.role === "user" && blocksOf(message).some(({ type }) => type !== "tool_result"),
  );
  return messages.slice(asked + 1).flatMap((one) => (one.role === "assistant" ? [blocksOf(one)] : []));
}

type Schema = Record<string, unknown>;
const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isFlat = (values: unknown): boolean => Array.isArray(values) && !values.some(isSchema);

/** The keywords that a grammar is made of, and the values that it can be made of. */
const KEYWORDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...Object.fromEntries(
    ["type", "properties", "required", "items", "anyOf", "description", "title", "$defs"].map((name) => [
      name,
      () => true,
    ]),
  ),
  ...Object.fromEntries(["$schema", "default", "pattern"].map((name) => [name, () => true])),
  enum: isFlat,
  const: (value) => !isSchema(value),
  $ref: (value) => String(value).startsWith("#"),
  additionalProperties: (value) => value === false,
  minItems: (value) => value === 0 || value === 1,
  format: (value) =>
    /^(?:date-time|time|date|duration|email|hostname|uri|ipv4|ipv6|uuid)$/.test(String(value)),
};

function schemaRefusal(schema: unknown): string | false {
  if (!isSchema(schema)) return false;
  if (schema["type"] === "object" && schema["additionalProperties"] !== false)
    return "For 'object' type, 'additionalProperties' must be explicitly set to false";
  const odd = Object.keys(schema).find((name) => !KEYWORDS[name]?.(schema[name]));
  if (odd !== undefined) return `property '${odd}' is not supported`;
  const inner = [
    schema["items"],
    schema["anyOf"],
    ...values(schema["properties"]),
    ...values(schema["$defs"]),
  ];
  return (
    inner
      .flat()
      .map(schemaRefusal)
      .find((reason) => reason !== false) ?? false
  );
}

const values = (map: unknown): unknown[] => (isSchema(map) ? Object.values(map) : []);
