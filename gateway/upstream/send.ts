import type { Clock } from "#shared/clock.ts";
import type { CallSocket, SocketSending, Upload, VendorAddress } from "../call.ts";
import type { SurfaceName } from "../surface-facts.ts";
import { echoFetch } from "./echo/echo.ts";
import type { OutboundFetch } from "./outbound-fetch.ts";

/** One request to a provider, ready to send. */
export type Sending = SocketSending & {
  surface: SurfaceName;
  /** Its own address and method; absent: `POST` to the surface's. */
  vendor?: VendorAddress | undefined;
  /** Whether the client asked for a stream. */
  streamed: boolean;
  /** Sent instead of `body`. */
  upload?: Upload | undefined;
  /** The client's WebSocket, whose provider may have one, too. */
  socket?: CallSocket | undefined;
  /** Decode a compressed answer, for answers that are not passed on unchanged. */
  decode?: boolean;
};

/** Rejects with a GatewayError if the address may not be called, and as `fetch` does if the call fails. */
export type Send = (sending: Sending) => Promise<Response>;

/** How long after an answer a provider counts as reachable, so that its calls need not track the connection. */
const REACHED_MS = 10_000;
const ORIGINS_MAX = 1000;

/** Sends calls to providers; decompresses answers only on request. The echo provider answers in process. */
export function createSender(reach: OutboundFetch, clock: Clock): Send {
  const reached = new Map<string, number>();
  const isReached = (name: string) => (reached.get(name) ?? 0) > clock.monotonicMs();
  const noteReached = (name: string) => {
    if (reached.size >= ORIGINS_MAX) reached.clear();
    reached.set(name, clock.monotonicMs() + REACHED_MS);
  };
  return async (sending) => {
    const { target, surface, url, headers, body, upload, signal, decode = false, onSent } = sending;
    if (target.provider.kind === "echo") {
      await upload?.bytes(onSent).pipeTo(new WritableStream());
      return echoFetch({ surface, bytes: body, model: target.model, streamed: sending.streamed });
    }
    const bySocket = sending.socket?.serves(target) ? await sending.socket.send(sending) : null;
    if (bySocket) return bySocket;
    const requestBody = bodyOf(sending, !upload && isReached(url));
    try {
      const answer = await reach(
        { url, allowPrivateNetwork: target.provider.allowPrivateNetwork },
        {
          method: sending.vendor?.method ?? "POST",
          headers,
          body: requestBody,
          signal,
          decompress: decode,
        },
      );
      noteReached(url);
      return answer;
    } catch (cause) {
      reached.delete(url);
      throw cause;
    }
  };
}

/**
 * A streamed body reveals when the connection is established, but costs more than the rest of a call. It is used only
 * for a provider that has not answered lately. For a plain body Bun sets the length itself.
 */
function bodyOf({ headers, body, upload, vendor, onSent }: Sending, plain: boolean) {
  if (plain || vendor?.empty) {
    onSent();
    return vendor?.empty ? null : body;
  }
  const length = upload ? upload.contentLength : body.byteLength;
  if (length !== null) headers["content-length"] = String(length);
  return upload?.bytes(onSent) ?? sentBody(body, onSent);
}

/**
 * A request body that reports when it is pulled: Bun does so once the connection is established, TLS handshake included.
 * Until then the provider has nothing to answer or bill. It is sent in one piece, with the length that the caller sets.
 */
export function sentBody(bytes: Uint8Array, onPull: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      pull(controller) {
        onPull();
        if (bytes.byteLength > 0) controller.enqueue(bytes);
        controller.close();
      },
    },
    // Read nothing ahead of a pull.
    { highWaterMark: 0 },
  );
}
