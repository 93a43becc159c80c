import { expect, test } from "bun:test";
import type { Pair } from "#gateway/translate/translate.ts";
import { NO_USAGE } from "#shared/usage.ts";
import { bytesOf, eventsIn, jsonOf, relayed, sseOf, translation } from "./kit.ts";

// Pictures that a model makes within a conversation, whole and streamed.

const DATA = "iVBORw0KGgo=";
const HEAD = { responseId: "r1", modelVersion: "gemini-3-pro-image" };
const USAGE = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
const PARTS = [{ text: "Here." }, { inlineData: { mimeType: "image/png", data: DATA } }];
const GEMINI = {
  whole: {
    ...HEAD,
    candidates: [{ content: { role: "model", parts: PARTS }, finishReason: "STOP" }],
    usageMetadata: USAGE,
  },
  events: [
    { ...HEAD, candidates: [{ content: { role: "model", parts: PARTS.slice(0, 1) } }] },
    {
      ...HEAD,
      candidates: [{ content: { role: "model", parts: PARTS.slice(1) }, finishReason: "STOP" }],
      usageMetadata: USAGE,
    },
  ],
};
/** OpenRouter's (openrouter.ai, "Image Generation"). */
const IMAGES = [{ type: "image_url", image_url: { url: `data:image/png;base64,${DATA}` } }];
const COUNTS = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const CHAT = {
  whole: {
    id: "1",
    model: "m",
    usage: COUNTS,
    choices: [{ index: 0, finish_reason: "stop", message: { content: "Here.", images: IMAGES } }],
  },
  events: [
    { id: "1", model: "m", choices: [{ index: 0, delta: { content: "Here." } }] },
    { id: "1", model: "m", choices: [{ index: 0, delta: { images: IMAGES } }] },
    { id: "1", model: "m", usage: COUNTS, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    "[DONE]",
  ],
};

const REQUESTS = {
  chat: { model: "m", messages: [{ role: "user", content: "Draw." }] },
  messages: { model: "m", max_tokens: 99, messages: [{ role: "user", content: "Draw." }] },
  responses: { model: "m", input: "Draw." },
  gemini: { contents: [{ role: "user", parts: [{ text: "Draw." }] }] },
} as const;

/** Where each format's client finds the picture. */
const FOUND = {
  chat: `"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,${DATA}"}}]`,
  responses: `"type":"image_generation_call","status":"completed","output_format":"png","result":"${DATA}"`,
  gemini: `{"inlineData":{"mimeType":"image/png","data":"${DATA}"}}`,
  messages: "[A picture (image/png), which this format cannot show.]",
} as const;

const PAIRS: [Pair, { whole: object; events: (object | string)[] }][] = [
  [{ from: "responses", to: "gemini" }, GEMINI],
  [{ from: "chat", to: "gemini" }, GEMINI],
  [{ from: "messages", to: "gemini" }, GEMINI],
  [{ from: "gemini", to: "chat" }, CHAT],
  [{ from: "responses", to: "chat" }, CHAT],
];

test.each(PAIRS)("%j: the client gets the text and the picture", (pair, { whole, events }) => {
  const plain = translation(pair, REQUESTS[pair.from]);
  const answer = JSON.stringify(jsonOf(plain.answer(bytesOf(whole), NO_USAGE)));
  expect(answer).toContain(FOUND[pair.from]);
  expect(answer).toContain("Here.");
  const asked = pair.from === "gemini" ? REQUESTS.gemini : { ...REQUESTS[pair.from], stream: true };
  const streamed = relayed(pair, translation(pair, asked), [bytesOfText(sseOf(events))]);
  const data = JSON.stringify(eventsIn(streamed).map((event) => event.data));
  expect(data).toContain(pair.from === "chat" ? `"url":"data:image/png;base64,${DATA}"` : FOUND[pair.from]);
});

const bytesOfText = (text: string) => new TextEncoder().encode(text);
