import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { textToClassify, turnsOf } from "#gateway/classifier/turns.ts";

describe("user turns of a body", () => {
  test("chat completions: system, assistant and tool texts are left out", () => {
    const messages = [
      { role: "system", content: "You are a pirate" },
      { role: "user", content: "first" },
      { role: "assistant", content: "aye" },
      { role: "tool", tool_call_id: "1", content: "42" },
      {
        role: "user",
        content: [
          { type: "text", text: "second" },
          { type: "image_url", image_url: { url: "x" } },
        ],
      },
    ];
    expect(turnsOf({ messages })).toEqual(["first", "second"]);
  });

  test("messages: a turn of tool results alone is no text of the user's", () => {
    const messages = [
      { role: "user", content: "read the file" },
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "read", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "secret file" }] },
    ];
    expect(turnsOf({ system: "You are helpful", messages })).toEqual(["read the file"]);
  });

  test("responses: a text, or items with input_text", () => {
    expect(turnsOf({ input: "hello" })).toEqual(["hello"]);
    const input = [
      { role: "developer", content: "be brief" },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "one" },
          { type: "input_text", text: "two" },
        ],
      },
      { type: "function_call_output", call_id: "c", output: "3" },
    ];
    expect(turnsOf({ instructions: "x", input })).toEqual(["one\ntwo"]);
  });

  test("whatever the body is, reading it never throws and gives texts", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        for (const turn of [...turnsOf(body), ...turnsOf({ messages: body }), ...turnsOf({ input: body })]) {
          expect(typeof turn).toBe("string");
        }
      }),
    );
  });
});

describe("the text that is classified", () => {
  test("is the last turn", () => {
    expect(textToClassify(["Write a poem about rain", "Now translate it into German"])).toBe(
      "Now translate it into German",
    );
  });

  test("with the one before where the last is under 20 characters", () => {
    expect(textToClassify(["Write a poem about rain", "yes, go on"])).toBe(
      "Write a poem about rain\nyes, go on",
    );
    expect(textToClassify(["before", "x".repeat(19)])).toBe(`before\n${"x".repeat(19)}`);
    expect(textToClassify(["before", "x".repeat(20)])).toBe("x".repeat(20));
  });

  test("is a short turn alone where nothing went before, and null where the user wrote nothing", () => {
    expect(textToClassify(["hi"])).toBe("hi");
    expect(textToClassify([])).toBeNull();
  });
});
