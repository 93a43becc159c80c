import { expect, test } from "bun:test";
import { additionalModels } from "#gateway/http/additional-models.ts";
import { scanJson } from "#gateway/http/scan.ts";
import { utf8 } from "./json-text.ts";

const beside = (body: object | string) =>
  additionalModels(scanJson(utf8(typeof body === "string" ? body : JSON.stringify(body))));

test("the models that may take over, advise or draw are told, and one that the provider chooses as null", () => {
  expect(beside({ fallbacks: [{ model: "a" }, "b", { speed: "fast" }, 5] })).toEqual(["a", "b"]);
  expect(beside({ fallbacks: "default" })).toEqual([null]);
  expect(beside({ models: ["a", "b", null] })).toEqual(["a", "b"]);
  const tools = [
    { type: "advisor_20260301", name: "advisor", model: "a" },
    { type: "image_generation", model: "b" },
    { type: "openrouter:advisor", parameters: { model: "c" } },
  ];
  expect(beside({ tools })).toEqual(["a", "b", "c"]);
});

test("both of two members of a name are told, because nobody knows which of them a provider reads", () => {
  expect(beside('{"models":["a"],"models":["b"]}')).toEqual(["a", "b"]);
});

test("what a function takes is no model, nor is anything below the top level", () => {
  const parameters = { type: "object", properties: { model: { type: "string" } }, model: "x" };
  expect(beside({ tools: [{ type: "function", function: { name: "f", parameters } }] })).toEqual([]);
  expect(beside({ tools: [{ type: "function", name: "f", parameters }] })).toEqual([]);
  expect(beside({ tools: [{ name: "f", input_schema: parameters }], tool_choice: "auto" })).toEqual([]);
  expect(beside({ metadata: { models: ["a"], fallbacks: ["b"] }, fallbacks: null, models: "x" })).toEqual([]);
});
