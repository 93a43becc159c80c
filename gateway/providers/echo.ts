import type { SurfaceName } from "../call.ts";
import { echoChat, refuseChat } from "./echo-chat.ts";
import { echoEmbeddings } from "./echo-embeddings.ts";
import { echoImageEdits, echoImages } from "./echo-images.ts";
import { echoCountTokens, echoMessages, refuseMessages } from "./echo-messages.ts";
import { echoModerations } from "./echo-moderations.ts";
import { echoRerank, echoRerankV2 } from "./echo-rerank.ts";
import { echoResponses } from "./echo-responses.ts";
import { echoSpeech } from "./echo-speech.ts";
import { echoTranscription } from "./echo-transcription.ts";
import { type Told, toldIn } from "./provider-json.ts";

/** How the built-in provider answers a surface, and how it refuses a body that it cannot read. */
type Echo = {
  /** The member without which there is nothing to answer, and what it must be. */
  needs: { member: string; kind: "list" | "text" | "text or list" };
  answer(body: Told, id: string): Response;
  refuse(message: string, id: string): Response;
};

const CONVERSATION = { member: "messages", kind: "list" } as const;
const TEXTS = { member: "input", kind: "text or list" } as const;
const DOCUMENTS = { member: "documents", kind: "list" } as const;
const PROMPT = { member: "prompt", kind: "text" } as const;
const MODEL = { member: "model", kind: "text" } as const;
const SPOKEN = { member: "input", kind: "text" } as const;

const ECHOES = {
  "chat.completions": { needs: CONVERSATION, answer: echoChat, refuse: refuseChat },
  messages: { needs: CONVERSATION, answer: echoMessages, refuse: refuseMessages },
  "messages.count_tokens": { needs: CONVERSATION, answer: echoCountTokens, refuse: refuseMessages },
  responses: { needs: TEXTS, answer: echoResponses, refuse: refuseChat },
  embeddings: { needs: TEXTS, answer: echoEmbeddings, refuse: refuseChat },
  moderations: { needs: TEXTS, answer: echoModerations, refuse: refuseChat },
  "images.generations": { needs: PROMPT, answer: echoImages, refuse: refuseChat },
  "images.edits": { needs: PROMPT, answer: echoImageEdits, refuse: refuseChat },
  "images.variations": { needs: MODEL, answer: echoImageEdits, refuse: refuseChat },
  "audio.transcriptions": { needs: MODEL, answer: echoTranscription, refuse: refuseChat },
  "audio.translations": { needs: MODEL, answer: echoTranscription, refuse: refuseChat },
  "audio.speech": { needs: SPOKEN, answer: echoSpeech, refuse: refuseChat },
  rerank: { needs: DOCUMENTS, answer: echoRerank, refuse: refuseChat },
  "rerank.v2": { needs: DOCUMENTS, answer: echoRerankV2, refuse: refuseChat },
} as const satisfies Record<SurfaceName, Echo>;

const isA = {
  list: (value: unknown) => Array.isArray(value),
  text: (value: unknown) => typeof value === "string",
  "text or list": (value: unknown) => typeof value === "string" || Array.isArray(value),
} as const satisfies Record<Echo["needs"]["kind"], (value: unknown) => boolean>;

/**
 * The built-in provider's answer, plain or streamed, exactly as the vendor whose wire it is would frame it: on the
 * surfaces of conversations the text of the last user message. The same bytes always get the same answer; it has no clock, so `created` is 0.
 */
export function echoFetch(request: { surface: SurfaceName; bytes: Uint8Array }): Response {
  const echo: Echo = ECHOES[request.surface];
  const id = Bun.hash(request.bytes).toString(16).padStart(16, "0");
  const body = toldIn(request.bytes);
  if (!body) return echo.refuse("The body is not a JSON object.", id);
  const { member, kind } = echo.needs;
  if (!isA[kind](body[member])) return echo.refuse(`${member}: a ${kind} is required.`, id);
  return echo.answer(body, id);
}
