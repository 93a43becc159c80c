import { expect, test } from "bun:test";
import { scanJson } from "#gateway/http/scan.ts";
import { inexpressibleFor } from "#gateway/upstream/translation.ts";
import { provider } from "#test/routing/world.ts";
import { bytesOf } from "./kit.ts";

const claude = {
  provider: provider("claude", { kind: "anthropic" }),
  model: "claude-opus-4-6",
  wire: "messages",
} as const;
const gpt = { provider: provider("gpt"), model: "gpt-5", wire: "chat" } as const;
const call = (members: object) =>
  ({
    surface: "chat.completions",
    body: scanJson(bytesOf({ messages: [{ role: "user", content: "hi" }], ...members })),
  }) as const;

test("whether a target can express a call is known before it is asked, with the member that it cannot", () => {
  expect(inexpressibleFor(call({}), { target: claude, route: null })).toBeNull();
  expect(inexpressibleFor(call({ logprobs: true }), { target: gpt, route: null })).toBeNull();
  expect(inexpressibleFor(call({ logprobs: true }), { target: claude, route: null })).toMatchObject({
    type: "invalid_request",
    message: expect.stringContaining("`logprobs`"),
  });
});
