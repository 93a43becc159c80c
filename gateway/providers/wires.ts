import type { WireName } from "../surface-facts.ts";
import { BEDROCK_WIRE } from "./bedrock-wire.ts";
import { CHAT_WIRE } from "./chat-wire.ts";
import { EMBEDDINGS_WIRE, MODERATIONS_WIRE, RERANK_WIRE } from "./counted-wires.ts";
import { GEMINI_EMBEDDINGS_WIRE, GEMINI_WIRE } from "./gemini-wire.ts";
import { IMAGES_WIRE, SPEECH_WIRE, TRANSCRIPTIONS_WIRE } from "./media-wires.ts";
import { MESSAGES_WIRE } from "./messages-wire.ts";
import { REALTIME_WIRE } from "./realtime-wire.ts";
import { RESPONSES_WIRE } from "./responses-wire.ts";
import { VENDOR_WIRE } from "./vendor-wire.ts";
import type { Wire } from "./wire.ts";

export const WIRES = {
  chat: CHAT_WIRE,
  messages: MESSAGES_WIRE,
  responses: RESPONSES_WIRE,
  completions: CHAT_WIRE,
  embeddings: EMBEDDINGS_WIRE,
  moderations: MODERATIONS_WIRE,
  images: IMAGES_WIRE,
  speech: SPEECH_WIRE,
  transcriptions: TRANSCRIPTIONS_WIRE,
  rerank: RERANK_WIRE,
  gemini: GEMINI_WIRE,
  "gemini-embeddings": GEMINI_EMBEDDINGS_WIRE,
  bedrock: BEDROCK_WIRE,
  cohere: VENDOR_WIRE,
  realtime: REALTIME_WIRE,
  vendor: VENDOR_WIRE,
} as const satisfies Record<WireName, Wire>;
