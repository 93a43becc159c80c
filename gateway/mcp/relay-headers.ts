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

export const serverHeaders = (from: Headers): Headers => kept(from, TO_SERVER);
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
