import type { Clock } from "#shared/clock.ts";
import type { SurfaceName, Target, Upload } from "../call.ts";
import { echoFetch } from "../providers/echo.ts";
import { sentBody } from "./sent-body.ts";
import type { AddressGuard } from "./ssrf.ts";

/** One request to a provider, ready to go. */
export type Sending = {
  target: Target;
  surface: SurfaceName;
  url: string;
  headers: Headers;
  body: Uint8Array;
  /** Sent in the place of `body`. */
  upload?: Upload | undefined;
  signal: AbortSignal;
  /** Decode a compressed answer: for those that the client does not get as they were sent. */
  decode?: boolean;
  /** Called once the provider may get the request: the connection stands, or one stood a moment ago. */
  onSent(): void;
};

/** Rejects with a GatewayError when the address may not be called, and as `fetch` does when the call fails. */
export type Send = (sending: Sending) => Promise<Response>;

/** A provider that answered within this time is taken to be reachable: its calls need no watch on the connection. */
const REACHED_MS = 10_000;
const ORIGINS_MAX = 1000;

/**
 * The one place that talks to providers. It follows no redirect, because one would carry the prompt and the credential
 * to another origin; decodes nothing unasked, because the client gets the bytes as they were sent; and has no time limit of
 * Bun's, which cuts a silence of 360 s: deadlines come by `signal`. The built-in provider answers in process.
 */
export function sender(guard: Pick<AddressGuard, "assertReachable">, clock: Clock): Send {
  const reached = new Map<string, number>();
  const isReached = (name: string) => (reached.get(name) ?? 0) > clock.monotonicMs();
  const noteReached = (name: string) => {
    if (reached.size >= ORIGINS_MAX) reached.clear();
    reached.set(name, clock.monotonicMs() + REACHED_MS);
  };
  return async (sending) => {
    const { target, surface, url, body, upload, onSent } = sending;
    if (target.provider.kind === "echo") {
      await upload?.bytes(onSent).pipeTo(new WritableStream());
      return echoFetch({ surface, bytes: body });
    }
    await guard.assertReachable(url, target.provider.allowPrivateNetwork);
    // A body that is asked for tells when the connection stands, and costs more than the rest of a call. So it is
    // used only until the provider has answered.
    const plain = !upload && isReached(url);
    if (plain) onSent();
    const asked = plain ? body : (upload?.bytes(onSent) ?? sentBody(body, onSent));
    try {
      const answer = await fetch(url, initOf(sending, asked));
      noteReached(url);
      return answer;
    } catch (cause) {
      reached.delete(url);
      throw cause;
    }
  };
}

function initOf(
  { headers, body, upload, signal, decode = false }: Sending,
  asked: Uint8Array | ReadableStream<Uint8Array>,
): BunFetchRequestInit {
  const length = upload ? upload.contentLength : body.byteLength;
  if (length !== null) headers.set("content-length", String(length));
  const rules = { redirect: "manual", decompress: decode, timeout: false };
  return { method: "POST", headers, body: asked, signal, ...rules } as BunFetchRequestInit;
}
