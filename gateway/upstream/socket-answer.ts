import type { Json } from "../translate/exact-json.ts";

/** Characters of events that wait for a client that reads slower than its provider writes. */
const WAITING_MAX = 64 * 1024 * 1024;

/** The events of one response on a provider's WebSocket, as the answer that HTTP would give. */
export function socketAnswer() {
  const answer = Promise.withResolvers<Response>();
  // Nothing may wait for it yet.
  answer.promise.catch(() => undefined);
  let events: ReadableStreamDefaultController<string> | null = null;
  let isCancelled = false;
  const begin = (): Response => {
    const stream = new ReadableStream<string>(
      {
        start(controller) {
          events = controller;
        },
        cancel() {
          isCancelled = true;
        },
      },
      { highWaterMark: WAITING_MAX, size: (text = "") => text.length },
    );
    const headers = { "content-type": "text/event-stream" };
    return new Response(stream.pipeThrough(new TextEncoderStream()), { headers });
  };
  return {
    /** Once the first event says whether it is an error. */
    answer: answer.promise,
    /** Whether too much of it waits to be read. */
    isFull: () => (events?.desiredSize ?? 0) < 0,
    /** An error before anything else is an answer of its own status; all else is the beginning of a stream. */
    put(text: string, error: Json | null = null) {
      if (!events && error) {
        const { status } = error;
        const code = typeof status === "number" && status >= 400 && status < 600 ? status : 400;
        answer.resolve(Response.json({ error: error["error"] }, { status: code }));
        return;
      }
      if (!events) answer.resolve(begin());
      if (!isCancelled) events?.enqueue(`data: ${text.replace(/\r\n|\r|\n/g, "\ndata: ")}\n\n`);
    },
    end() {
      if (!isCancelled) events?.close();
    },
    fail(cause: Error) {
      events?.error(cause);
      answer.reject(cause);
    },
  };
}

export type SocketAnswer = ReturnType<typeof socketAnswer>;
