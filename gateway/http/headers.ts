import type { HeaderView } from "../call.ts";
import type { WireName } from "../surface-facts.ts";

/**
 * Headers by their names in lower case. Where the gateway writes headers they are this: a `Headers` costs several times
 * as much to make, and to hand over.
 */
export type HeaderTable = Record<string, string>;

/** The same headers, read once: each lookup in a `Headers` creates a new string. */
export const cachedHeaders = (headers: HeaderView): HeaderView => new CachedHeaders(headers.toJSON());

class CachedHeaders implements HeaderView {
  readonly #table: HeaderTable;

  constructor(table: HeaderTable) {
    this.#table = table;
  }

  get(name: string): string | null {
    return this.#table[name] ?? null;
  }

  has(name: string): boolean {
    return this.#table[name] !== undefined;
  }

  toJSON(): HeaderTable {
    return this.#table;
  }
}

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
export function upstreamHeaders(from: HeaderView, wire: WireName): HeaderTable {
  const headers = filtered(from, TO_PROVIDER);
  // The meter reads the answer, so it must not be compressed.
  headers["accept-encoding"] = "identity";
  if (wire === "messages") headers["anthropic-version"] ??= ANTHROPIC_VERSION;
  return headers;
}

/** The provider's headers as the client may see them: never a cookie, an organisation or a name of the gateway's own. */
export const clientHeaders = (from: HeaderView): HeaderTable => filtered(from, TO_CLIENT);

type AllowList = (name: string) => boolean;

function allowList(rules: readonly string[]): AllowList {
  const exact = new Set(rules.filter((rule) => !rule.endsWith("-")));
  const beginnings = rules.filter((rule) => rule.endsWith("-"));
  return (name) => exact.has(name) || beginnings.some((beginning) => name.startsWith(beginning));
}

function filtered(from: HeaderView, isAllowed: AllowList): HeaderTable {
  const all = from.toJSON();
  const hopByHop = connectionTokens(all["connection"]);
  const kept: HeaderTable = {};
  for (const name in all) {
    const value = all[name];
    if (value !== undefined && isAllowed(name) && !hopByHop?.has(name)) kept[name] = value;
  }
  return kept;
}

/** Names that `connection` makes hop-by-hop (RFC 9110, 7.6.1); null for the values of every day, which name none. */
function connectionTokens(connection: string | undefined): ReadonlySet<string> | null {
  if (connection === undefined || connection === "keep-alive" || connection === "close") return null;
  return new Set(
    connection
      .toLowerCase()
      .split(",")
      .map((token) => token.trim()),
  );
}
