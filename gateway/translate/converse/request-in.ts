import { GatewayError, refuse } from "../../errors.ts";
import { isJson, type Json, wordOf } from "../exact-json.ts";
import { claudeFacts } from "../messages/claude-models.ts";

/**
 * A request in the form of Bedrock's Converse as one in the messages format, member by member (AWS, "Converse" in the
 * API reference of Amazon Bedrock Runtime). What the vendor only counts or logs is left out.
 * @throws GatewayError invalid_request, which names the member that has no counterpart.
 */
export function messagesOfConverse(request: Json, model: string): Json {
  for (const name in request) {
    if (!READ.has(name) && !LEFT_OUT.has(name) && request[name] != null) throw unknown(name);
  }
  const { inferenceConfig, toolConfig, additionalModelRequestFields: extra } = request;
  const { anthropic_beta: _, ...others } = isJson(extra) ? extra : {};
  const system = blocksIn(request["system"], "system");
  return {
    ...others,
    max_tokens: claudeFacts(model).outputTokensMax,
    ...(isJson(inferenceConfig) && renamed(inferenceConfig, INFERENCE, "inferenceConfig")),
    ...(system.length > 0 && { system }),
    messages: listIn(request["messages"], "messages").map((message, index) => ({
      role: message["role"],
      content: blocksIn(message["content"], `messages.${index}.content`),
    })),
    ...(isJson(toolConfig) && toolsOf(toolConfig)),
  };
}

/** The betas of Anthropic's that a request names in its body, as the header has them; null: none. @throws GatewayError invalid_request */
export function betasIn(extra: unknown): string | null {
  const betas = isJson(extra) ? (extra["anthropic_beta"] ?? []) : [];
  if (!Array.isArray(betas) || !betas.every((one) => typeof one === "string" && /^[\w.-]+$/.test(one)))
    refuse("`anthropic_beta` must be a list of names.");
  return betas.length === 0 ? null : betas.join(",");
}

const READ = new Set(["messages", "system", "inferenceConfig", "toolConfig", "additionalModelRequestFields"]);
const LEFT_OUT = new Set(["requestMetadata", "performanceConfig"]);
const INFERENCE = {
  maxTokens: "max_tokens",
  temperature: "temperature",
  topP: "top_p",
  stopSequences: "stop_sequences",
} as const;

const unknown = (at: string): GatewayError =>
  new GatewayError("invalid_request", `\`${at}\` is not supported: the call is sent in Anthropic's format.`);

function renamed(object: Json, names: Readonly<Record<string, string>>, at: string): Json {
  const entries = Object.entries(object).filter(([, value]) => value != null);
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const to = Object.hasOwn(names, name) ? names[name] : undefined;
      if (to === undefined) throw unknown(`${at}.${name}`);
      return [to, value];
    }),
  );
}

function listIn(value: unknown, at: string): Json[] {
  if (value == null) return [];
  if (Array.isArray(value) && value.every(isJson)) return value;
  refuse(`\`${at}\` must be a list of objects.`);
}

/** A list of blocks. A cache point becomes a mark of the block before it. */
function blocksIn(value: unknown, at: string): Json[] {
  const blocks: Json[] = [];
  for (const [index, block] of listIn(value, at).entries()) {
    const last = blocks.at(-1);
    if (block["cachePoint"] === undefined) blocks.push(blockOf(block, `${at}.${index}`));
    else if (last) blocks[blocks.length - 1] = { ...last, cache_control: cacheMark(block["cachePoint"]) };
  }
  return blocks;
}

const cacheMark = (point: unknown): Json => ({
  type: "ephemeral",
  ...(isJson(point) && point["ttl"] != null && { ttl: point["ttl"] }),
});

/** A union has exactly one member, which says its kind. */
function memberOf(union: Json, at: string): [kind: string, value: unknown] {
  const [member, another] = Object.entries(union).filter(([, value]) => value != null);
  if (!member || another) refuse(`\`${at}\` must have one member.`);
  return member;
}

function blockOf(union: Json, at: string): Json {
  const [kind, value] = memberOf(union, at);
  if (kind === "text") return { type: "text", text: value };
  const read = Object.hasOwn(BLOCKS, kind) ? BLOCKS[kind] : undefined;
  if (!read || !isJson(value)) throw unknown(`${at}.${kind}`);
  return read(value, `${at}.${kind}`);
}

const BLOCKS: Readonly<Record<string, (value: Json, at: string) => Json>> = {
  image: (image, at) => ({ type: "image", source: base64(image, `image/${wordOf(image["format"])}`, at) }),
  document: documentOf,
  toolUse: ({ toolUseId, name, input }) => ({ type: "tool_use", id: toolUseId, name, input: input ?? {} }),
  toolResult: ({ toolUseId, content, status }, at) => ({
    type: "tool_result",
    tool_use_id: toolUseId,
    content: listIn(content, `${at}.content`).map((part, index) =>
      part["json"] === undefined
        ? blockOf(part, `${at}.content.${index}`)
        : { type: "text", text: JSON.stringify(part["json"]) },
    ),
    ...(status === "error" && { is_error: true }),
  }),
  reasoningContent: ({ reasoningText, redactedContent }) =>
    isJson(reasoningText)
      ? { type: "thinking", thinking: reasoningText["text"], signature: reasoningText["signature"] ?? "" }
      : { type: "redacted_thinking", data: Buffer.from(wordOf(redactedContent), "base64").toString() },
};

const TEXT_FORMATS = ["txt", "md", "csv", "html"];

function documentOf(document: Json, at: string): Json {
  const { name, format, source } = document;
  const common = { type: "document", ...(name != null && { title: name }) };
  const plain = (data: unknown) => ({ ...common, source: { type: "text", media_type: "text/plain", data } });
  if (isJson(source) && source["text"] != null) return plain(source["text"]);
  if (format === "pdf") return { ...common, source: base64(document, "application/pdf", at) };
  if (!TEXT_FORMATS.includes(wordOf(format))) throw unknown(`${at}.format`);
  return plain(Buffer.from(wordOf(base64(document, "", at)["data"]), "base64").toString());
}

function base64({ source }: Json, media_type: string, at: string): Json {
  const [kind, data] = isJson(source) ? memberOf(source, `${at}.source`) : [];
  if (kind !== "bytes") throw unknown(`${at}.source.${kind}`);
  return { type: "base64", media_type, data };
}

function toolsOf({ tools, toolChoice }: Json): Json {
  const defined: Json[] = [];
  for (const [index, union] of listIn(tools, "toolConfig.tools").entries()) {
    const [kind, spec] = memberOf(union, `toolConfig.tools.${index}`);
    const last = defined.at(-1);
    if (kind === "cachePoint") {
      if (last) defined[defined.length - 1] = { ...last, cache_control: cacheMark(spec) };
    } else if (kind === "toolSpec" && isJson(spec)) {
      const { inputSchema, ...others } = spec;
      defined.push({ ...others, input_schema: isJson(inputSchema) ? inputSchema["json"] : inputSchema });
    } else throw unknown(`toolConfig.tools.${index}.${kind}`);
  }
  return { tools: defined, ...(isJson(toolChoice) && { tool_choice: choiceOf(toolChoice) }) };
}

function choiceOf(union: Json): Json {
  const [kind, value] = memberOf(union, "toolConfig.toolChoice");
  if (kind === "auto" || kind === "any") return { type: kind };
  if (kind === "tool" && isJson(value)) return { type: "tool", name: value["name"] };
  throw unknown(`toolConfig.toolChoice.${kind}`);
}
