import type { Call } from "../call.ts";
import type { BodyCapture, Captured } from "../stores/bodies.ts";

/** Bytes stored of each request and each answer. */
const BYTES_MAX = 1024 * 1024;

/**
 * Captures a call's request and answer, announced by a header. Both are stored when the answer ends, whatever the
 * outcome. If the answer is not text, such as audio, only the request is stored.
 */
export function captureAnswer(
  bodies: Pick<BodyCapture, "keep">,
  { id, body, memory }: Call,
  answer: Response,
): Response {
  const { status, headers } = answer;
  headers.set("x-gateway-body-capture", "on");
  const request = beginningOf(body.bytes);
  const keep = (text: Captured | null) => void bodies.keep({ requestId: id, request, answer: text });
  if (answer.body && TEXT.test(headers.get("content-type") ?? "")) {
    return new Response(copied(answer.body, { ended: keep, kept: memory?.add }), { status, headers });
  }
  keep(null);
  return answer;
}

const TEXT = /^text\/|json/;

const beginningOf = (bytes: Uint8Array): Captured => ({
  text: new TextDecoder().decode(bytes.subarray(0, BYTES_MAX)),
  truncated: bytes.byteLength > BYTES_MAX,
});

type Copying = { ended(copy: Captured): void; kept: ((bytes: number) => void) | undefined };

/** Passes the stream through; `ended` is called once with a bounded copy, `kept` with the size of each part of it. */
function copied(body: ReadableStream<Uint8Array>, { ended, kept }: Copying): ReadableStream<Uint8Array> {
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
          if (size <= BYTES_MAX) {
            parts.push(value.slice());
            kept?.(value.byteLength);
          }
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
