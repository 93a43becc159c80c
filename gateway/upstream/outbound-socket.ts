import { isIpAddress } from "#shared/addresses.ts";
import type { HeaderTable } from "../http/headers.ts";
import type { AddressGuard, ResolvedOrigin } from "./ssrf.ts";

/** `url` is that of the same address over HTTP. */
type SocketTarget = { url: string; allowPrivateNetwork: boolean; headers: HeaderTable; signal: AbortSignal };

/** An open WebSocket; null if none can be opened, so that the call goes over HTTP, which says why. */
export type OpenSocket = (to: SocketTarget) => Promise<Bun.WebSocket | null>;

/** Connects as `createOutboundFetch` does, to a checked address or the host's next one; not through a proxy. */
export const createOutboundSocket =
  (guard: Pick<AddressGuard, "resolveOrigin">): OpenSocket =>
  async ({ url, allowPrivateNetwork, headers, signal }) => {
    const { origin, protocol, hostname } = new URL(url);
    const isLiteral = isIpAddress(hostname.replace(/^\[(.*)\]$/, "$1"));
    for (const resolved of await guard.resolveOrigin(origin, allowPrivateNetwork)) {
      if (signal.aborted || (resolved.origin === null && !isLiteral && protocol === "https:")) return null;
      const at = (resolved.origin ?? origin).replace(/^http/, "ws") + url.slice(origin.length);
      const socket = await opened(at, optionsFor(resolved, headers), signal);
      if (socket) return socket;
    }
    return null;
  };

const optionsFor = ({ origin, host, serverName }: ResolvedOrigin, headers: HeaderTable) => ({
  headers: origin === null ? headers : { ...headers, host },
  ...(origin !== null && { tls: { serverName } }),
});

function opened(
  url: string,
  options: Bun.WebSocketOptions,
  signal: AbortSignal,
): Promise<Bun.WebSocket | null> {
  const { promise, resolve } = Promise.withResolvers<Bun.WebSocket | null>();
  // The pages' library declares this global, too, without Bun's options.
  const socket: Bun.WebSocket = Reflect.construct(WebSocket, [url, options]);
  const giveUp = () => socket.terminate();
  signal.addEventListener("abort", giveUp, { once: true });
  socket.onopen = () => resolve(socket);
  socket.onerror = () => resolve(null);
  socket.onclose = () => resolve(null);
  return promise.finally(() => signal.removeEventListener("abort", giveUp));
}
