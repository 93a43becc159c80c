// What OpenAI refuses of a request though Anthropic and Google take it, in its words.

type Json = Record<string, unknown>;
const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const listIn = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
const valuesIn = (value: unknown): unknown[] => (isJson(value) ? Object.values(value) : []);

/** Why a chat or responses request is refused; null if it is not. Source: the vendor's guides of functions and structured outputs, and its reference. */
export function refusalByOpenAi(request: Json, wire: "chat" | "responses"): string | null {
  const functions = listIn(request["tools"]).flatMap((tool) =>
    tool["type"] !== "function" ? [] : isJson(tool["function"]) ? [tool["function"]] : [tool],
  );
  for (const { name, parameters, strict } of functions) {
    const fault = schemaFault(parameters) ?? (strict === true ? strictFault(parameters) : null);
    if (fault) return `Invalid schema for function '${name}': ${fault}`;
  }
  const format =
    wire === "chat" ? request["response_format"] : isJson(request["text"]) && request["text"]["format"];
  if (isJson(format) && format["type"] === "json_schema") {
    const { schema, strict } = isJson(format["json_schema"]) ? format["json_schema"] : format;
    const fault = strict === true ? strictFault(schema) : null;
    if (fault) return `Invalid schema for response_format 'output': ${fault}`;
  }
  const said = JSON.stringify(request[wire === "chat" ? "messages" : "input"]);
  if (isJson(format) && format["type"] === "json_object" && !/json/i.test(said))
    return "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
  const { user } = request;
  if (typeof user === "string" && user.length > 64)
    return `Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length ${user.length} instead.`;
  return wire === "chat" ? messagesFault(listIn(request["messages"])) : null;
}

function messagesFault(messages: Json[]): string | null {
  let open: unknown[] = [];
  for (const message of messages) {
    if (message["role"] === "tool") open = open.filter((id) => id !== message["tool_call_id"]);
    else if (open.length > 0)
      return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open}`;
    const ids = listIn(message["tool_calls"]).map(({ id }) => String(id));
    const long = ids.find((id) => id.length > 40);
    if (long)
      return `Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length ${long.length} instead.`;
    open = message["role"] === "assistant" ? ids : open;
  }
  return null;
}

function schemaFault(schema: unknown): string | null {
  if (!isJson(schema) || schema["type"] !== "object")
    return "schema must be a JSON Schema of 'type: \"object\"', got 'type: None'.";
  if (!isJson(schema["properties"])) return "In context=(), object schema missing properties.";
  return arrayFault(schema);
}

function arrayFault(schema: unknown): string | null {
  if (!isJson(schema)) return null;
  if (schema["type"] === "array" && !("items" in schema))
    return "In context=('properties', 'x'), array schema missing items.";
  const inner = [
    ...valuesIn(schema["properties"]),
    schema["items"],
    ...listIn(schema["anyOf"]),
    ...valuesIn(schema["$defs"]),
  ];
  return inner.map(arrayFault).find((fault) => fault !== null) ?? null;
}

function strictFault(schema: unknown): string | null {
  if (!isJson(schema)) return null;
  const { properties } = schema;
  if (isJson(properties)) {
    if (schema["additionalProperties"] !== false)
      return "In context=(), 'additionalProperties' is required to be supplied and to be false.";
    const required = Array.isArray(schema["required"]) ? schema["required"] : [];
    const missing = Object.keys(properties).find((name) => !required.includes(name));
    if (missing)
      return `In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
  }
  const inner = [
    ...valuesIn(properties),
    schema["items"],
    ...listIn(schema["anyOf"]),
    ...valuesIn(schema["$defs"]),
  ];
  return inner.map(strictFault).find((fault) => fault !== null) ?? null;
}
