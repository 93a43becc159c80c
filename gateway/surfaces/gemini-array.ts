import { isEventType } from "../http/content-type.ts";
import { sseSplitter } from "../metering/sse.ts";

const encoder = new TextEncoder();

/**
 * A stream of events as the JSON array that Google streams to clients without `alt=sse`. Any other answer, such as an
 * error, stays as it is.
 */
export function arrayAnswer(answer: Response): Response {
  if (!answer.body || !isEventType(answer.headers.get("content-type"))) return answer;
  const headers = new Headers(answer.headers);
  headers.set("content-type", "application/json; charset=UTF-8");
  return new Response(answer.body.pipeThrough(asArray()), { status: answer.status, headers });
}

function asArray(): TransformStream<Uint8Array, Uint8Array> {
  const splitter = sseSplitter();
  let begun = false;
  const put = (controller: TransformStreamDefaultController<Uint8Array>, data: Uint8Array) => {
    controller.enqueue(encoder.encode(begun ? ",\r\n" : "["));
    controller.enqueue(new Uint8Array(data));
    begun = true;
  };
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      for (const { data } of splitter.push(chunk)) put(controller, data);
    },
    flush(controller) {
      const last = splitter.end();
      if (last) put(controller, last.data);
      controller.enqueue(encoder.encode(begun ? "]" : "[]"));
    },
  });
}
