/** Headers that a tool server gets unchanged; a name ending in `-` is a prefix. */
const TO_SERVER = [
  "accept",
  "content-type",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-param-",
  "mcp-protocol-version",
];
/** Headers that a client gets unchanged. The session id is replaced by a sealed one. */
const TO_CLIENT = ["allow", "cache-control", "content-type", "retry-after", "x-accel-buffering"];

/** A message was read as UTF-8, so its type goes without parameters. */
export function serverHeaders(from: Headers): Headers {
  const headers = kept(from, TO_SERVER);
  if (headers.has("content-type")) headers.set("content-type", "application/json");
  return headers;
}

export const answerHeaders = (from: Headers): Headers => kept(from, TO_CLIENT);

function kept(from: Headers, rules: readonly string[]): Headers {
  const headers = new Headers();
  for (const [name, value] of from) {
    if (rules.some((rule) => (rule.endsWith("-") ? name.startsWith(rule) : name === rule))) {
      headers.append(name, value);
    }
  }
  return headers;
}
