import { isRecord, parsedJson } from "#shared/json.ts";
import { type SseEvent, sseSplitter } from "../metering/sse.ts";
import type { RpcMessage } from "./json-rpc.ts";

type RpcResponse = Record<string, unknown>;

/** The response to the request `id` in a text; null for any other message. */
export function responseIn(bytes: Uint8Array, id: RpcMessage["id"]): RpcResponse | null {
  const message = parsedJson(new TextDecoder().decode(bytes));
  const isResponse = isRecord(message) && message["id"] === id && ("result" in message || "error" in message);
  return isResponse ? message : null;
}

export const isEventStream = (headers: Headers): boolean =>
  /^\s*text\/event-stream\b/i.test(headers.get("content-type") ?? "");

type Watching = {
  id: RpcMessage["id"];
  /** Called with the response before the client gets it. */
  answered(response: RpcResponse): Promise<void>;
  /** Called when the stream ends, however it does; `cause` is why it broke off. */
  ended(cause?: unknown): Promise<void>;
};

/** The stream as it came, read on its way; nothing of it is held back. */
export function watched(body: ReadableStream<Uint8Array>, watching: Watching): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const splitter = sseSplitter();
  const look = async (events: readonly SseEvent[]) => {
    for (const { data } of events) {
      const response = responseIn(data, watching.id);
      if (response) await watching.answered(response);
    }
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          await look(splitter.push(value));
          controller.enqueue(value);
          return;
        }
        const last = splitter.end();
        await look(last ? [last] : []);
        await watching.ended();
        controller.close();
      } catch (error) {
        await watching.ended(error);
        controller.error(error);
      }
    },
    async cancel(reason) {
      await reader.cancel(reason).catch(() => undefined);
      await watching.ended();
    },
  });
}

/** The response to the request `id`, read out of an event stream, which is then left; null where it has none. */
export async function responseOf(
  body: ReadableStream<Uint8Array>,
  id: RpcMessage["id"],
): Promise<RpcResponse | null> {
  const splitter = sseSplitter();
  for await (const chunk of body) {
    for (const { data } of splitter.push(chunk)) {
      const response = responseIn(data, id);
      if (response) return response;
    }
  }
  const last = splitter.end();
  return last && responseIn(last.data, id);
}
