import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { clientHeaders, upstreamHeaders } from "#gateway/http/headers.ts";

const token = fc.string({
  unit: fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz-"),
  minLength: 1,
  maxLength: 12,
});
const SECRETS = [
  "authorization",
  "api-key",
  "cookie",
  "forwarded",
  "host",
  "keep-alive",
  "openai-organization",
  "openai-project",
  "proxy-authorization",
  "te",
  "transfer-encoding",
  "upgrade",
  "via",
  "content-length",
  "connection",
  "baggage",
] as const;
const name = fc.oneof(
  token,
  token.map((rest) => `X-${rest}`),
  fc.constantFrom(...SECRETS),
);

describe("upstreamHeaders", () => {
  test("no x- header, credential, cookie, organisation or hop-by-hop header reaches a provider", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, token)), (entries) => {
        const sent = Object.keys(upstreamHeaders(new Headers(entries), "chat"));
        expect(
          sent.filter((header) => header.startsWith("x-") || SECRETS.some((it) => it === header)),
        ).toEqual([]);
      }),
    );
  });

  test("what the provider needs arrives as the client wrote it", () => {
    const wanted = {
      accept: "text/event-stream",
      "anthropic-beta": "a-1,b-2",
      "anthropic-dangerous-direct-browser-access": "true",
      "anthropic-version": "2026-10-21",
      "content-type": "application/json",
      "idempotency-key": "k",
      "openai-beta": "responses=v1",
      "user-agent": "claude-cli/2.1.329 (external, sdk-cli)",
    };
    const sent = upstreamHeaders(
      new Headers({
        ...wanted,
        "content-type": "application/json; charset=utf-8",
        "X-Stainless-Lang": "js",
        "accept-language": "*",
      }),
      "messages",
    );
    expect(sent).toEqual({ ...wanted, "accept-encoding": "identity" });
  });

  test("an absent anthropic-version is 2023-06-01 on the messages wire, and no other wire gets one", () => {
    expect(upstreamHeaders(new Headers(), "messages")["anthropic-version"]).toBe("2023-06-01");
    expect(upstreamHeaders(new Headers(), "chat")["anthropic-version"]).toBeUndefined();
  });

  test("the answer is asked for uncompressed, whatever the client accepts", () => {
    expect(upstreamHeaders(new Headers({ "accept-encoding": "br" }), "chat")["accept-encoding"]).toBe(
      "identity",
    );
  });

  test("a header that connection names belongs to that connection and stays behind", () => {
    const from = new Headers({ connection: "close, Anthropic-Beta", "anthropic-beta": "a", accept: "*/*" });
    expect(upstreamHeaders(from, "chat")).toEqual({
      accept: "*/*",
      "accept-encoding": "identity",
      "content-type": "application/json",
    });
  });
});

describe("clientHeaders", () => {
  test("content, retry, request id and rate limit headers pass unchanged", () => {
    const wanted = {
      "anthropic-fast-input-tokens-remaining": "1",
      "anthropic-priority-input-tokens-limit": "1",
      "anthropic-ratelimit-unified-reset": "2026-11-21T00:00:00Z",
      "cache-control": "no-cache",
      "content-disposition": "attachment",
      "content-encoding": "gzip",
      "content-type": "text/event-stream",
      "openai-processing-ms": "12",
      "ratelimit-limit": "10",
      "request-id": "req_1",
      "retry-after": "3",
      "retry-after-ms": "3000",
      "x-ratelimit-reset-tokens": "6m0s",
      "x-request-id": "req_2",
      "x-should-retry": "false",
    };
    expect(clientHeaders(new Headers(wanted))).toEqual(wanted);
  });

  test("cookies, organisations, framing, foreign policies and names of the gateway's own stay behind", () => {
    const from = new Headers({
      "access-control-allow-origin": "*",
      "alt-svc": "h3",
      "anthropic-organization-id": "o",
      connection: "x-request-id",
      "content-length": "5",
      "keep-alive": "timeout=5",
      "openai-organization": "o",
      server: "s",
      "set-cookie": "a=b",
      "strict-transport-security": "max-age=1",
      trailer: "t",
      "transfer-encoding": "chunked",
      "x-gateway-guardrail": "soft-deny",
      "x-request-id": "hop",
    });
    expect(clientHeaders(from)).toEqual({});
  });
});
