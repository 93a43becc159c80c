/**
 * The whole body of an answer that should be short.
 * @throws what `tooLong` makes, over `bytesMax` bytes; what the stream throws if its sender breaks off.
 */
export async function bytesUpTo(
  { body }: Pick<Response, "body">,
  bytesMax: number,
  tooLong: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.byteLength;
    if (size > bytesMax) throw tooLong();
    parts.push(part);
  }
  return Buffer.concat(parts);
}
