import type { Call } from "../call.ts";
import type { BodyCapture, Captured } from "../stores/bodies.ts";

/** Bytes kept of a request, and of an answer. */
const BYTES_MAX = 1024 * 1024;

/**
 * Captures request and answer of a call and says so in a header. Both are stored when the answer has ended, however it
 * ends. Of answers that are not text, such as audio, only the request is stored.
 */
export function captureAnswer(
  bodies: Pick<BodyCapture, "keep">,
  { id, body }: Call,
  answer: Response,
): Response {
  const { status, headers } = answer;
  headers.set("x-gateway-body-capture", "on");
  const request = beginningOf(body.bytes);
  const keep = (text: Captured | null) => void bodies.keep({ requestId: id, request, answer: text });
  if (answer.body && TEXT.test(headers.get("content-type") ?? "")) {
    return new Response(copied(answer.body, keep), { status, headers });
  }
  keep(null);
  return answer;
}

const TEXT = /^text\/|json/;

const beginningOf = (bytes: Uint8Array): Captured => ({
  text: new TextDecoder().decode(bytes.subarray(0, BYTES_MAX)),
  truncated: bytes.byteLength > BYTES_MAX,
});

/** The stream, chunk by chunk; `ended` gets a bounded copy of it, once. */
function copied(
  body: ReadableStream<Uint8Array>,
  ended: (copy: Captured) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  let over = false;
  const end = () => {
    if (over) return;
    over = true;
    ended(beginningOf(Buffer.concat(parts)));
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            end();
            controller.close();
            return;
          }
          if (size <= BYTES_MAX) parts.push(value.slice());
          size += value.byteLength;
          controller.enqueue(value);
        } catch (error) {
          end();
          controller.error(error);
        }
      },
      cancel(reason) {
        end();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
