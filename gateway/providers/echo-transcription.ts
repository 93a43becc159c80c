import { jsonAnswer, requestIdOf } from "./echo-text.ts";
import type { Told } from "./provider-json.ts";

/** The built-in provider hears nothing, and says so: no text, and no tokens for it. */
export function echoTranscription(_body: Told, id: string): Response {
  const usage = {
    type: "tokens",
    input_tokens: 0,
    input_token_details: { text_tokens: 0, audio_tokens: 0 },
    output_tokens: 0,
    total_tokens: 0,
  };
  return jsonAnswer({ text: "", usage }, 200, requestIdOf(id));
}
