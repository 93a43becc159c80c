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
  /** Called once the connection stands: from here on the provider may get the request. */
  onSent(): void;
};

/** Rejects with a GatewayError when the address may not be called, and as `fetch` does when the call fails. */
export type Send = (sending: Sending) => Promise<Response>;

/**
 * The one place that talks to providers. It follows no redirect, because one would carry the prompt and the credential
 * to another origin; decodes nothing unasked, because the client gets the bytes as they were sent; and has no time limit of
 * Bun's, which cuts a silence of 360 s: deadlines come by `signal`. The built-in provider answers in process.
 */
export const sender =
  (guard: Pick<AddressGuard, "assertReachable">): Send =>
  async ({ target, surface, url, headers, body, upload, signal, decode = false, onSent }) => {
    const { kind, allowPrivateNetwork } = target.provider;
    if (kind === "echo") {
      await upload?.bytes(onSent).pipeTo(new WritableStream());
      return echoFetch({ surface, bytes: body });
    }
    await guard.assertReachable(url, allowPrivateNetwork);
    const length = upload ? upload.contentLength : body.byteLength;
    if (length !== null) headers.set("content-length", String(length));
    const init = {
      method: "POST",
      headers,
      body: upload ? upload.bytes(onSent) : sentBody(body, onSent),
      signal,
      redirect: "manual",
      decompress: decode,
      timeout: false,
    };
    return await fetch(url, init as BunFetchRequestInit);
  };
