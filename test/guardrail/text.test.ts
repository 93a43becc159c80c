import { describe, expect, test } from "bun:test";
import { textsOf } from "#gateway/guardrail/text.ts";
import { allMembers } from "#gateway/http/members.ts";
import { scanJson } from "#gateway/http/scan.ts";

const textsIn = (body: object | string): string[] =>
  textsOf(allMembers(scanJson(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)))));

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
  "a file that is no base64": (text) => ({ content: [{ type: "file", file_data: `data:;base64,${text}` }] }),
};

describe("a text is read", () => {
  test.each(Object.keys(PLACES))("in %s", (place) => {
    const body = PLACES[place]?.("the secret here") ?? {};
    expect(textsIn(body).some((text) => text.includes("the secret here"))).toBe(true);
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
          { content: [{ type: "image", source: { type: "base64", data: file } }] },
        ],
      }),
    ).toEqual([]);
  });
});
