import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import type { Meter } from "./meter.ts";

/** Size limits in bytes for answers that are inflated for metering. */
const INFLATED_MAX = 64 * 1024 * 1024;
const COMPRESSED_MAX = 8 * 1024 * 1024;

type Inflater = (bytes: Uint8Array, maxOutputLength: number) => Uint8Array;

const gunzip: Inflater = (bytes, maxOutputLength) =>
  gunzipSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH });

const INFLATERS: Readonly<Record<string, Inflater>> = {
  gzip: gunzip,
  // Its old name (RFC 9110, 8.4.1.3).
  "x-gzip": gunzip,
  deflate: (bytes, maxOutputLength) =>
    inflateSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH }),
  br: (bytes, maxOutputLength) =>
    brotliDecompressSync(bytes, { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: (bytes, maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength }),
};

/** A decoded copy of an answer, to be read here; null if the coding is unknown, damaged, or inflates too far. */
export function decodedCopy(
  bytes: Uint8Array,
  encoding: string | null,
  bytesMax = INFLATED_MAX,
): Uint8Array | null {
  if (!encoding) return bytes;
  const inflate = Object.hasOwn(INFLATERS, encoding) ? INFLATERS[encoding] : null;
  if (!inflate || bytes.byteLength > COMPRESSED_MAX) return null;
  try {
    return inflate(bytes, bytesMax);
  } catch {
    return null;
  }
}

/** Meters a compressed stream (rare): chunks pass, a bounded copy is read at the end, time to first token unknown. */
export function compressedMeter(inner: Meter, encoding: string): Meter {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    ...inner,
    watch(chunk) {
      size += chunk.byteLength;
      if (size <= COMPRESSED_MAX) chunks.push(chunk);
      return chunk;
    },
    rest() {
      const plain = size <= COMPRESSED_MAX ? decodedCopy(Buffer.concat(chunks), encoding) : null;
      if (plain) {
        inner.watch(plain);
        inner.rest();
      }
      chunks.length = 0;
      return null;
    },
    contentSeen: () => false,
  };
}
