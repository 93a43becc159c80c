export type BodyReader = {
  /**
   * The body's bytes. `tooLarge`: over `bytesMax`. `full`: the bodies in memory of all requests, none of them verified
   * yet, would exceed `totalBytesMax`. `slow`: it was not whole after `msMax`.
   */
  read(request: Request): Promise<Uint8Array | "tooLarge" | "full" | "slow">;
};

type Limits = { bytesMax: number; totalBytesMax: number; msMax: number };

/** Reads bodies of callers that are not known yet. A declared length over the limit is refused unread. */
export function createBodyReader({ bytesMax, totalBytesMax, msMax }: Limits): BodyReader {
  let heldBytes = 0;
  return {
    read: async ({ headers, body }) => {
      if (Number(headers.get("content-length") ?? 0) > bytesMax) return "tooLarge";
      const chunks: Uint8Array[] = [];
      let size = 0;
      try {
        for await (const part of partsOf(body, msMax)) {
          if (part === "slow") return part;
          size += part.byteLength;
          heldBytes += part.byteLength;
          if (size > bytesMax) return "tooLarge";
          if (heldBytes > totalBytesMax) return "full";
          chunks.push(part);
        }
        return Buffer.concat(chunks);
      } finally {
        heldBytes -= size;
      }
    },
  };
}

/** Ends with `slow` after `msMax`. Whoever leaves early cancels the body. */
async function* partsOf(body: ReadableStream<Uint8Array> | null, msMax: number) {
  if (body === null) return;
  const reader = body.getReader();
  const late = Promise.withResolvers<"slow">();
  const timer = setTimeout(() => late.resolve("slow"), msMax);
  try {
    for (;;) {
      const part = await Promise.race([reader.read(), late.promise]);
      if (part === "slow") yield part;
      if (part === "slow" || part.done) return;
      yield part.value;
    }
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => undefined);
  }
}
