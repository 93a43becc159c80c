import { expect, test } from "bun:test";
import { ERRORS, type ErrorType } from "#gateway/errors.ts";
import { WIRES } from "#gateway/providers/wires.ts";

const TYPES = Object.keys(ERRORS) as ErrorType[];

test.each(TYPES)("%s has OpenAI's shape on the chat wire", (type) => {
  expect(
    JSON.parse(WIRES.chat.errorBody(type, 'a "quoted" sentence', { requestId: "req_1", details: null })),
  ).toEqual({
    error: {
      message: 'a "quoted" sentence',
      type: ERRORS[type].openai,
      param: null,
      code: type === "budget_exhausted" ? "insufficient_quota" : type,
    },
  });
});

test.each(TYPES)("%s has Anthropic's shape on the messages wire", (type) => {
  expect(
    JSON.parse(WIRES.messages.errorBody(type, "a sentence", { requestId: "req_1", details: null })),
  ).toEqual({
    type: "error",
    error: { type: ERRORS[type].anthropic, message: "a sentence" },
    request_id: "req_1",
  });
});
