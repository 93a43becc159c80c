export type BodyReader = {
  /**
   * The body's bytes. `tooLarge`: over `bytesMax`. `full`: the bodies in memory of all requests, none of them verified
   * yet, would exceed `totalBytesMax`.
   */
  read(request: Request): Promise<Uint8Array | "tooLarge" | "full">;
};

/** A smaller body is read at once and not counted; most deliveries are small. */
const SMALL_BYTES = 64 * 1024;

export function createBodyReader(limits: { bytesMax: number; totalBytesMax: number }): BodyReader {
  let heldBytes = 0;
  return {
    read: async (request) => {
      const declared = request.headers.get("content-length");
      if (declared !== null && Number(declared) <= Math.min(SMALL_BYTES, limits.bytesMax)) {
        return new Uint8Array(await request.arrayBuffer());
      }
      const chunks: Uint8Array[] = [];
      let size = 0;
      try {
        // Leaving the loop early cancels the body.
        for await (const chunk of request.body ?? []) {
          size += chunk.byteLength;
          heldBytes += chunk.byteLength;
          if (size > limits.bytesMax) return "tooLarge";
          if (heldBytes > limits.totalBytesMax) return "full";
          chunks.push(chunk);
        }
        return joined(chunks, size);
      } finally {
        heldBytes -= size;
      }
    },
  };
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = chunks;
  if (chunks.length === 1 && only) return only;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
