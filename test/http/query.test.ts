import { expect, test } from "bun:test";
import { forwardedQuery } from "#gateway/http/query.ts";

const at = (query: string) => forwardedQuery(`http://gateway.example/v1/messages${query}`);

test.each(["", "?beta=true", "?alt=sse&api-version=2026-01-01"])(
  "%j goes to the provider as it is",
  (query) => {
    expect(at(query)).toBe(query);
  },
);

/** LiteLLM, for one, runs the `model` of the query rather than the body's. */
test.each([
  "model=dear",
  "Model=dear",
  "mod%65l=dear",
  "model%5B%5D=dear",
  "%20model=dear",
  "model%C5%BF=dear",
  "model=a&model=b",
  "fallbacks=dear",
  "service_tier=priority",
  "stream=true",
])("%s decides what a body decides, and stays behind", (query) => {
  expect(at(`?${query}&beta=true`)).toBe("?beta=true");
  expect(at(`?${query}`)).toBe("");
});

test.each(["api_key=x", "access_token=x", "x=tg_abc"])(
  "%s may be a credential, and stays behind",
  (query) => {
    expect(at(`?${query}&beta=true`)).toBe("?beta=true");
  },
);
