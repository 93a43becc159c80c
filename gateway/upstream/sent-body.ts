/**
 * A request body that tells when it is asked for. Bun asks for a streamed body once the connection stands, the TLS
 * handshake included, and the head is on its way; before that the provider has nothing that it could answer or bill.
 * It goes out as one piece, with the length that the caller states.
 */
export function sentBody(bytes: Uint8Array, onAsked: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      pull(controller) {
        onAsked();
        if (bytes.byteLength > 0) controller.enqueue(bytes);
        controller.close();
      },
    },
    // Not a byte before it is asked for.
    { highWaterMark: 0 },
  );
}
