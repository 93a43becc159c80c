import { words } from "#shared/words.ts";
import type { HeaderView } from "../call.ts";
import type { WireName } from "../surface-facts.ts";

/**
 * Headers by lower-case name. Used instead of `Headers`, which is several times as expensive to build and pass on.
 */
export type HeaderTable = Record<string, string>;

/** Copies headers once, because each lookup in a `Headers` creates a new string. */
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

/** Request headers forwarded to providers unchanged; a name that ends in `-` is a prefix. */
const TO_PROVIDER = allowList("accept anthropic- idempotency-key openai-beta user-agent");

/** Answer headers for clients. Not `content-length`: the server frames what it sends, perhaps without a usage chunk. */
const TO_CLIENT = allowList(`
  anthropic-fast- anthropic-priority- anthropic-ratelimit- cache-control content-disposition content-encoding
  content-language content-type openai-processing-ms ratelimit- request-id retry-after retry-after-ms
  x-accel-buffering x-ratelimit- x-request-id x-should-retry
`);

/** Sent on the messages wire if the client names no version; a client's version is never changed. */
const ANTHROPIC_VERSION = "2023-06-01";

/**
 * The client's headers that a provider may see, without credentials, which the caller adds. An allow-list, so that no
 * `x-` header (spec, rule 1), cookie, organisation or hop-by-hop header ever gets through.
 */
export function upstreamHeaders(from: HeaderView, wire: WireName): HeaderTable {
  const headers = filtered(from, TO_PROVIDER);
  headers["content-type"] = upstreamType(from);
  // The meter reads the answer, so it must not be compressed.
  headers["accept-encoding"] = "identity";
  if (wire === "messages") headers["anthropic-version"] ??= ANTHROPIC_VERSION;
  return headers;
}

/** A form keeps its boundary. All other bodies were read as JSON, so no provider may read them as another type. */
function upstreamType(from: HeaderView): string {
  const type = from.get("content-type") ?? "";
  return /^multipart\//i.test(type) ? type : "application/json";
}

/** The provider's headers that a client may see: no cookies, no organisation, no header names of the gateway. */
export const clientHeaders = (from: HeaderView): HeaderTable => filtered(from, TO_CLIENT);

type AllowList = (name: string) => boolean;

function allowList(names: string): AllowList {
  const rules = words(names);
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

/** Names that `connection` makes hop-by-hop (RFC 9110, 7.6.1); null for the usual values, which name none. */
function connectionTokens(connection: string | undefined): ReadonlySet<string> | null {
  if (connection === undefined || connection === "keep-alive" || connection === "close") return null;
  return new Set(
    connection
      .toLowerCase()
      .split(",")
      .map((token) => token.trim()),
  );
}

const GZIP = /^gzip\s*(?:;\s*q=(?:1|0\.0{0,2}[1-9]).*)?$/i;

/** Whether an `accept-encoding` takes gzip. */
export const takesGzip = (codings: string | null): boolean =>
  codings?.split(",").some((coding) => GZIP.test(coding.trim())) === true;
