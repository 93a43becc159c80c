/** What a tool server gets as the client wrote it; a name that ends in `-` stands for all that begin so. */
const TO_SERVER = [
  "accept",
  "content-type",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-param-",
  "mcp-protocol-version",
];
/** What a client gets as the server wrote it. The session's id is made anew for the client. */
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
