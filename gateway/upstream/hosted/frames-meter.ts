import type { Meter } from "../../metering/meter.ts";
import type { StreamReader } from "../../reading.ts";
import { jsonIn } from "./bedrock-answer.ts";
import { frameSplitter } from "./event-stream.ts";

/** The meter of a stream in AWS's binary form, whose bytes all pass unchanged. */
export function framesMeter(reader: StreamReader): Meter {
  const splitter = frameSplitter();
  let isDamaged = false;
  return {
    watch(chunk) {
      try {
        const frames = isDamaged ? [] : splitter.push(chunk);
        for (const frame of frames) reader.event(Buffer.from(jsonIn(frame)));
      } catch {
        isDamaged = true;
      }
      return chunk;
    },
    rest: () => null,
    contentSeen: () => reader.progress.contentSeen,
    terminalSeen: () => reader.progress.terminalSeen,
    allSeen: () => false,
    reading: (complete) => reader.reading(complete),
  };
}
