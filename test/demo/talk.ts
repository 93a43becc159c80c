import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import OpenAI from "openai";
import type { RunnableToolFunctionWithParse } from "openai/lib/RunnableFunction";
import type { Use } from "./story.ts";
import { promptOf } from "./vendor.ts";

export type Address = { gatewayUrl: string; clientKey: string };
/** A use of the story, its place in it, and the names that this run has for its route and session. */
export type Said = { use: Use; index: number; route: string; session: string | null };

const PARAMETERS = {
  type: "object",
  properties: { suite: { type: "string" } },
  required: ["suite"],
} as const;

/** Makes the calls with the vendor's own SDK, and returns the text of the last answer. */
export const talk = (address: Address, said: Said): Promise<string> =>
  said.use.sdk === "openai" ? talkOpenai(address, said) : talkAnthropic(address, said);

const headersOf = ({ session }: Said) => ({
  "x-client": "demo",
  ...(session === null ? {} : { "x-session-id": session }),
});

async function talkOpenai({ gatewayUrl, clientKey }: Address, said: Said): Promise<string> {
  const openai = new OpenAI({
    baseURL: `${gatewayUrl}/v1`,
    apiKey: clientKey,
    defaultHeaders: headersOf(said),
    maxRetries: 0,
  });
  const call = { model: said.route, messages: [{ role: "user" as const, content: promptOf(said.index) }] };
  if (said.use.mode === "plain") {
    const { choices } = await openai.chat.completions.create(call);
    return choices[0]?.message.content ?? "";
  }
  if (said.use.mode === "stream") {
    let text = "";
    for await (const { choices } of await openai.chat.completions.create({ ...call, stream: true })) {
      text += choices[0]?.delta.content ?? "";
    }
    return text;
  }
  const tool: RunnableToolFunctionWithParse<object> = {
    type: "function",
    function: {
      name: "run_tests",
      description: "Runs a test suite.",
      parameters: { ...PARAMETERS, required: ["suite"] },
      parse: (text) => JSON.parse(text),
      function: () => "42 passed",
    },
  };
  const runner = openai.chat.completions.runTools({ ...call, tools: [tool] });
  return (await runner.finalContent()) ?? "";
}

async function talkAnthropic({ gatewayUrl, clientKey }: Address, said: Said): Promise<string> {
  const anthropic = new Anthropic({
    baseURL: gatewayUrl,
    apiKey: clientKey,
    defaultHeaders: headersOf(said),
    maxRetries: 0,
  });
  const call = {
    model: said.route,
    max_tokens: 2_048,
    messages: [{ role: "user" as const, content: promptOf(said.index) }],
  };
  const textOf = (content: readonly { type: string }[]) =>
    content.map((block) => ("text" in block ? String(block.text) : "")).join("");
  if (said.use.mode === "plain") return textOf((await anthropic.messages.create(call)).content);
  if (said.use.mode === "stream") return await anthropic.messages.stream(call).finalText();
  const tool = betaTool({
    name: "run_tests",
    description: "Runs a test suite.",
    inputSchema: PARAMETERS,
    run: () => "42 passed",
  });
  const runner = anthropic.beta.messages.toolRunner({ ...call, tools: [tool] });
  return textOf((await runner.runUntilDone()).content);
}
