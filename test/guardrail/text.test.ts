import { describe, expect, test } from "bun:test";
import { textsOf } from "#gateway/guardrail/text.ts";
import { allMembers } from "#gateway/http/members.ts";
import { TwoReadings } from "#gateway/http/one-reading.ts";
import { scanJson } from "#gateway/http/scan.ts";
import { hasTokenIds } from "#gateway/upstream/body-texts.ts";

const textsIn = (body: object | string): string[] =>
  textsOf(allMembers(scanJson(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)))));

const base64 = (text: string) => Buffer.from(text).toString("base64");
const toolCall = (args: object) => ({
  messages: [{ tool_calls: [{ function: { name: "f", arguments: JSON.stringify(args) } }] }],
});
const toolUse = (input: object) => ({ messages: [{ content: [{ type: "tool_use", input }] }] });

/** The body with a text in the place that is asked about. */
const PLACES: Record<string, (text: string) => object> = {
  "a message": (text) => ({ messages: [{ role: "user", content: text }] }),
  "a part of a message": (text) => ({ messages: [{ role: "user", content: [{ type: "text", text }] }] }),
  "the system text": (text) => ({ system: [{ type: "text", text }] }),
  "a tool's arguments": (text) => ({
    messages: [{ tool_calls: [{ function: { name: "f", arguments: JSON.stringify({ q: [text] }) } }] }],
  }),
  "the name of an argument": (text) => ({
    messages: [{ tool_calls: [{ function: { arguments: JSON.stringify({ [text]: 1 }) } }] }],
  }),
  "the name of an argument of tool_use": (text) => ({
    messages: [{ content: [{ type: "tool_use", input: { [text]: 1 } }] }],
  }),
  "a tool's result": (text) => ({ messages: [{ content: [{ type: "tool_result", content: text }] }] }),
  "the description of a tool": (text) => ({ tools: [{ function: { name: "f", description: text } }] }),
  "a prompt": (text) => ({ prompt: text }),
  "an input": (text) => ({ input: [{ content: [{ type: "input_text", text }] }] }),
  "a document": (text) => ({ documents: [text] }),
  "a long kind": (text) => ({ messages: [{ role: text + " ".repeat(40) }] }),
  "an argument called data": (text) => toolCall({ data: text }),
  "an argument called url": (text) => toolCall({ nested: [{ url: text }] }),
  "an argument called type": (text) => toolCall({ type: text }),
  "an argument called role": (text) => toolCall({ role: text }),
  "an argument of tool_use called data": (text) => toolUse({ data: text, type: "image" }),
  "an argument of tool_use called type": (text) => toolUse({ type: text }),
  "an argument of tool_use that looks like a picture": (text) =>
    toolUse({ type: "image", source: { type: "base64", media_type: "image/png", data: text } }),
  "an argument of an MCP tool": (text) => ({
    messages: [{ content: [{ type: "mcp_tool_use", input: { role: text } }] }],
  }),
  "a result in an object": (text) => ({ input: [{ type: "function_call_output", output: { data: text } }] }),
  "a name in a tool's schema": (text) => ({ tools: [{ input_schema: { properties: { [text]: {} } } }] }),
  "an unknown role": (text) => ({ messages: [{ role: text }] }),
  "an unknown type": (text) => ({ messages: [{ content: [{ type: text }] }] }),
  "a text document": (text) => ({
    messages: [
      { content: [{ type: "document", source: { type: "text", media_type: "text/plain", data: text } }] },
    ],
  }),
  "a text document in base64": (text) => ({
    messages: [
      {
        content: [
          { type: "document", source: { type: "base64", media_type: "text/plain", data: base64(text) } },
        ],
      },
    ],
  }),
  "a text file in a data URL": (text) => ({
    input: [
      {
        content: [
          { type: "input_file", filename: "a.txt", file_data: `data:text/plain;base64,${base64(text)}` },
        ],
      },
    ],
  }),
  "a drawing in a data URL": (text) => ({
    messages: [
      { content: [{ type: "image_url", image_url: { url: `data:image/svg+xml;base64,${base64(text)}` } }] },
    ],
  }),
  "a part that is no medium": (text) => ({
    messages: [{ content: [{ type: "text", data: text, url: text }] }],
  }),
  "a file that is no base64": (text) => ({ content: [{ type: "file", file_data: `data:;base64,${text}` }] }),
};

describe("a text is read", () => {
  test.each(Object.keys(PLACES))("in %s", (place) => {
    for (const secret of ["the secret here", "secretword"]) {
      const body = PLACES[place]?.(secret) ?? {};
      expect(textsIn(body).some((text) => text.includes(secret))).toBe(true);
    }
  });

  test("in a tool's arguments, under a name that occurs twice, both times", () => {
    for (const body of [
      '{"messages":[{"content":[{"type":"tool_use","input":{"q":"secretword","q":"hi"}}]}]}',
      '{"messages":[{"content":[{"type":"tool_use","input":{"q":{"a":"secretword"},"q":{"a":"b"}}}]}]}',
      String.raw`{"messages":[{"tool_calls":[{"function":{"arguments":"{\"q\":\"\\u0073ecretword\",\"q\":\"hi\"}"}}]}]}`,
    ]) {
      expect(textsIn(body).some((text) => text.includes("secretword"))).toBe(true);
    }
  });

  test.each([
    '{"messages":[{"content":"secretword","content":"hi"}]}',
    '{"messages":[{"content":[{"type":"text","text":"secretword","te\\u0078t":"hi"}]}]}',
    '{"tools":[{"function":{"name":"f","description":"secretword","description":"hi"}}]}',
    '{"input":[{"content":"secretword","content":"hi"}]}',
    '{"system":[{"text":"secretword","text":"hi"}]}',
  ])("once in %s, or the body is refused", (body) => {
    expect(() => textsIn(body)).toThrow(TwoReadings);
  });

  test("whatever escapes spell it", () => {
    expect(textsIn(String.raw`{"prompt":"\u0073ecret"}`)).toEqual(["secret"]);
    const nested = String.raw`{"arguments":"{\"q\":\"\\u0073ecret\"}"}`;
    expect(textsIn(nested)).toContain("secret");
  });

  test("in JSON inside JSON, eight levels deep", () => {
    const wrapped = Array.from({ length: 8 }).reduce<string>(
      (text) => JSON.stringify({ q: text }),
      "the secret here",
    );
    expect(textsIn({ prompt: wrapped })).toContain("the secret here");
  });

  test("without the disguises of Unicode", () => {
    const disguised = ["ｓｅｃｒｅｔ", "s\u200be\u00adc\u2060ret", "𝐬𝐞𝐜𝐫𝐞𝐭", "se\ufe0fcret"];
    for (const text of disguised) expect(textsIn({ prompt: text })).toEqual([text, "secret"]);
  });

  test("that is cut into the parts of one message, whole", () => {
    const content = ["the se", "cret h", "ere"].map((text) => ({ type: "text", text }));
    expect(textsIn({ messages: [{ role: "user", content }] })).toContain("the secret here");
  });

  test("where it is a number as long as a card's", () => {
    expect(
      textsIn({ messages: [{ content: [{ type: "tool_use", input: { n: 4111111111111111 } }] }] }),
    ).toContain("4111111111111111");
  });

  test("under a name that occurs twice, both times", () => {
    expect(textsIn('{"prompt":"first","prompt":"second"}').sort()).toEqual(["first", "second"]);
  });
});

describe("no text is", () => {
  test("a label, a kind, or a file", () => {
    const file = Buffer.from("bytes of a picture").toString("base64");
    expect(
      textsIn({
        model: "m",
        route: "r",
        user: "jane@example.org",
        metadata: { user_id: "jane@example.org" },
        messages: [
          {
            role: "user",
            content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${file}` } }],
          },
          { content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: file } }] },
          {
            content: [
              { type: "document", source: { type: "base64", media_type: "application/pdf", data: file } },
            ],
          },
          { content: [{ type: "input_audio", input_audio: { data: file, format: "wav" } }] },
          { content: [{ type: "file", file: { file_data: `data:application/pdf;base64,${file}` } }] },
          { content: [{ type: "input_image", image_url: `data:image/png;base64,${file}` }] },
          { type: "image_generation_call", result: file },
        ],
        images: [{ image_url: `data:image/png;base64,${file}` }],
        mask: { image_url: `data:image/webp;base64,${file}` },
      }),
    ).toEqual(["wav", "application/pdf", "image/png"]);
  });
});

describe("token ids", () => {
  const found = (body: object) => hasTokenIds(scanJson(Buffer.from(JSON.stringify(body))));

  test.each([
    [{ input: [464, 4168] }],
    [{ input: [[464], [4168, 9]] }],
    [{ input: ["a text", [464]] }],
    [{ prompt: [464] }],
    [{ prompt_token_ids: [464], messages: [] }],
  ])("are found in %j", (body) => expect(found(body)).toBe(true));

  test.each([
    [{ input: "464 4168" }],
    [{ input: ["464"] }],
    [{ input: [] }],
    [{ input: [{ role: "user", content: [464] }] }],
    [{ messages: [], temperature: 1, logit_bias: { "464": 1 } }],
  ])("are not found in %j", (body) => expect(found(body)).toBe(false));
});
