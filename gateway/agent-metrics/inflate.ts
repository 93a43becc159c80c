import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { GatewayError, refuse } from "../errors.ts";

const inflateGzip = promisify<Uint8Array, { maxOutputLength: number }, Uint8Array>(gunzip);

/**
 * Decodes a body. Stops at `bytesMax` bytes, so a decompression bomb does no harm.
 * @throws GatewayError unsupported_media_type for codings other than gzip; too_large; invalid_request if damaged.
 */
export async function inflated(
  bytes: Uint8Array,
  encoding: string | null,
  bytesMax: number,
): Promise<Uint8Array> {
  if (!isGzip(encoding)) return bytes;
  try {
    return await inflateGzip(bytes, { maxOutputLength: bytesMax });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE") {
      throw new GatewayError("too_large");
    }
    refuse("The body is not gzip, as its Content-Encoding says.");
  }
}

/** @throws GatewayError unsupported_media_type for codings other than gzip. */
export function isGzip(encoding: string | null): boolean {
  const name = encoding?.trim().toLowerCase() ?? "";
  if (name === "" || name === "identity") return false;
  if (name === "gzip" || name === "x-gzip") return true;
  throw new GatewayError("unsupported_media_type", "The receiver accepts gzip and no other content coding.");
}
