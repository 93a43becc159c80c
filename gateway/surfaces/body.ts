import type { HeaderView } from "../call.ts";
import { GatewayError } from "../errors.ts";
import type { BodyHold } from "../http/body-budget.ts";
import { requireUtf8 } from "../http/content-type.ts";

export type BodyLimits = {
  bytesMax: number;
  /** Takes the memory for the body before it is read; absent for bodies that are always small. */
  hold?: BodyHold;
  headers?: HeaderView;
};

/**
 * The whole body of a request, at most `bytesMax` bytes, in UTF-8 and not compressed.
 * @throws GatewayError unsupported_media_type for others; what `readBytes` throws.
 */
export async function readBody(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const { headers = request.headers } = limits;
  requireUtf8(headers);
  const coding = headers.get("content-encoding");
  if (coding !== null && !/^(?:identity)?$/i.test(coding)) {
    const sentence = "The body must not have a content-encoding.";
    throw new GatewayError("unsupported_media_type", sentence);
  }
  return await readBytes(request, limits);
}

/**
 * The whole body of a request as it came, at most `bytesMax` bytes. A declared length over that is refused unread; an
 * undeclared one is counted on the way.
 * @throws GatewayError too_large; bodies_too_many; invalid_request when the client broke off.
 */
export async function readBytes(
  request: Request,
  { bytesMax, hold, headers = request.headers }: BodyLimits,
): Promise<Uint8Array> {
  const declared = headers.get("content-length");
  if (declared !== null && Number(declared) > bytesMax) throw new GatewayError("too_large");
  try {
    if (declared !== null) {
      hold?.take(Number(declared));
      return await request.bytes();
    }
    return await counted(request.body, bytesMax, hold);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError("invalid_request", "The request body broke off.", cause);
  }
}

async function counted(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
  hold: BodyHold | undefined,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > bytesMax) throw new GatewayError("too_large");
    hold?.take(chunk.byteLength);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
