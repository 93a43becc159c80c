import { objectInBytes, type StepReader } from "./exact-json.ts";
import type { ReplyStep } from "./reply.ts";
import type { StepWriter } from "./writing.ts";

/** `event` takes the data of one event and gives the text of those it becomes; `end` what is left when no more comes. */
export type StreamTranslator = { event(data: Uint8Array): string; end(): string };

const decoder = new TextDecoder();

/** Translates one stream: `read` changes its steps before they are written. */
export function streamTranslator(
  reader: StepReader,
  write: StepWriter,
  read: (step: ReplyStep) => ReplyStep[],
): StreamTranslator {
  let failed = false;
  const written = (steps: readonly ReplyStep[]): string => {
    let text = "";
    for (const step of steps.flatMap(read)) {
      // Nothing comes after an error.
      if (failed) break;
      failed = step.kind === "error";
      text += write(step);
    }
    return text;
  };
  return {
    event(data) {
      if (decoder.decode(data).trim() === "[DONE]") return written(reader.event("[DONE]"));
      const object = objectInBytes(data);
      return object ? written(reader.event(object)) : "";
    },
    end: () => written(reader.rest()),
  };
}
