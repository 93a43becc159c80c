import type { SurfaceName, Target } from "../call.ts";
import { echoFetch } from "../providers/echo.ts";
import type { AddressGuard } from "./ssrf.ts";

/** One request to a provider, ready to go. */
export type Sending = {
  target: Target;
  surface: SurfaceName;
  url: string;
  headers: Headers;
  body: Uint8Array;
  signal: AbortSignal;
  /** Decode a compressed answer: for those that the client does not get as they were sent. */
  decode?: boolean;
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
  async ({ target, surface, url, headers, body, signal, decode = false }) => {
    const { kind, allowPrivateNetwork } = target.provider;
    if (kind === "echo") return echoFetch({ surface, bytes: body });
    await guard.assertReachable(url, allowPrivateNetwork);
    const init = {
      method: "POST",
      headers,
      body,
      signal,
      redirect: "manual",
      decompress: decode,
      timeout: false,
    };
    return await fetch(url, init as BunFetchRequestInit);
  };
