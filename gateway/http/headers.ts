import type { WireName } from "../call.ts";

/** Request headers that a provider gets as the client wrote them; a name that ends in `-` stands for all that begin so. */
const TO_PROVIDER = allowList([
  "accept",
  "anthropic-",
  "content-type",
  "idempotency-key",
  "openai-beta",
  "user-agent",
]);

/**
 * Answer headers that a client gets. `content-length` is not among them: the server frames what it really sends,
 * which may be one usage chunk less.
 */
const TO_CLIENT = allowList([
  "anthropic-fast-",
  "anthropic-priority-",
  "anthropic-ratelimit-",
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-type",
  "openai-processing-ms",
  "ratelimit-",
  "request-id",
  "retry-after",
  "retry-after-ms",
  "x-accel-buffering",
  "x-ratelimit-",
  "x-request-id",
  "x-should-retry",
]);

/** Sent on the messages wire when the client names no version; a version that it names is never changed. */
const ANTHROPIC_VERSION = "2023-06-01";

/**
 * The client's headers as the provider may see them, without any credential: that is added by whoever sends. An
 * allow-list, so that no `x-` header (spec, rule 1), cookie, organisation or hop-by-hop header gets through, today's or
 * tomorrow's.
 */
export function upstreamHeaders(from: Headers, wire: WireName): Headers {
  const headers = filtered(from, TO_PROVIDER);
  // The meter reads the answer, so it is asked for as it is.
  headers.set("accept-encoding", "identity");
  if (wire === "messages" && !headers.has("anthropic-version")) {
    headers.set("anthropic-version", ANTHROPIC_VERSION);
  }
  return headers;
}

/** The provider's headers as the client may see them: never a cookie, an organisation or a name of the gateway's own. */
export const clientHeaders = (from: Headers): Headers => filtered(from, TO_CLIENT);

type AllowList = { exact: ReadonlySet<string>; beginnings: readonly string[] };

function allowList(rules: readonly string[]): AllowList {
  return {
    exact: new Set(rules.filter((rule) => !rule.endsWith("-"))),
    beginnings: rules.filter((rule) => rule.endsWith("-")),
  };
}

function filtered(from: Headers, allowed: AllowList): Headers {
  const hopByHop = connectionTokens(from.get("connection"));
  const kept = new Headers();
  // An iterator makes an object of every header; that is what most of a short call's time went to here.
  from.forEach((value, name) => {
    if (isAllowed(name, allowed) && !hopByHop?.has(name)) kept.append(name, value);
  });
  return kept;
}

function isAllowed(name: string, { exact, beginnings }: AllowList): boolean {
  if (exact.has(name)) return true;
  for (const beginning of beginnings) {
    if (name.startsWith(beginning)) return true;
  }
  return false;
}

/** Names that `connection` makes hop-by-hop (RFC 9110, 7.6.1); null for the values of every day, which name none. */
function connectionTokens(connection: string | null): ReadonlySet<string> | null {
  if (connection === null || connection === "keep-alive" || connection === "close") return null;
  return new Set(
    connection
      .toLowerCase()
      .split(",")
      .map((token) => token.trim()),
  );
}
