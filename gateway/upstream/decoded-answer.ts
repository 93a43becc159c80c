import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

const DECODERS: ReadonlyMap<string | undefined, () => Transform> = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
  ["zstd", createZstdDecompress],
]);

/**
 * A compressed answer, decoded as fast as it is read and no further. Bun's own decoding goes on after the reader has
 * left: 2 kB of brotli then took 1.4 GB, and all other calls of the process waited for 12 s. An unknown coding stays.
 */
export function decodedAnswer(answer: Response): Response {
  const { body, headers, status } = answer;
  const open = DECODERS.get(headers.get("content-encoding")?.trim().toLowerCase());
  // Other statuses are faults, and no `Response` can be made with them.
  if (!body || !open || status < 200 || status > 599) return answer;
  const decoder = open();
  // Its end, failure included, is that of the decoder, which is read below.
  pipeline(Readable.from(partsOf(body)), decoder, () => undefined);
  const parts: AsyncIterator<Uint8Array> = decoder[Symbol.asyncIterator]();
  const decoded = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => void decoder.destroy(),
    },
    // Decode nothing ahead of a pull.
    { highWaterMark: 0 },
  );
  return new Response(decoded, { status, headers });
}

async function* partsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* body;
}
