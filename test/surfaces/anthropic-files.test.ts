import { expect, test } from "bun:test";
import Anthropic, { toFile } from "@anthropic-ai/sdk";
import { wiredGateway } from "#test/support/wired-gateway.ts";

test("a file of Anthropic's client for a prompt is refused in words", async () => {
  const gateway = await wiredGateway({ chat: "http://127.0.0.1:9/v1", messages: "http://127.0.0.1:9" });
  const anthropic = new Anthropic({ apiKey: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
  const fault = await anthropic.beta.files
    .upload({ file: await toFile(Buffer.from("hi"), "a.txt", { type: "text/plain" }) })
    .then(() => null, String);
  expect(fault).toContain("files for prompts are not kept");
});
