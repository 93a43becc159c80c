import { newId } from "#shared/ids.ts";
import { callerAddress, type TrustedProxies } from "#shared/proxies.ts";

/** What the server says of a WebSocket. */
export type SocketEvents = {
  open(socket: Bun.ServerWebSocket<SocketEvents>): void;
  message(socket: Bun.ServerWebSocket<SocketEvents>, message: string | Uint8Array): void;
  drain(socket: Bun.ServerWebSocket<SocketEvents>): void;
  close(): void;
};

/** The server once it listens, which knows the callers' connections. */
export type Listener = {
  server: {
    requestIP(request: Request): { address: string } | null;
    timeout(request: Request, seconds: number): void;
    upgrade(request: Request, options: { data: SocketEvents }): boolean;
  } | null;
};

const copied = new WeakMap<Request, Request>();

/** `copy`, which the server has not seen, as a request of whoever made `request`. */
export function ofSameClient(request: Request, copy: Request): Request {
  copied.set(copy, request);
  return copy;
}

const ids = new WeakMap<Request, string>();

/** The id of a request in the audit log, the same in all its entries. */
export function requestIdOf(request: Request): string {
  const whole = copied.get(request) ?? request;
  const id = ids.get(whole) ?? newId();
  ids.set(whole, id);
  return id;
}

/** The IP address of whoever makes a request, maybe through proxies; null: it is not known. */
export const addressIn = (listener: Listener, proxies: TrustedProxies) => (request: Request) =>
  callerAddress(listener.server, copied.get(request) ?? request, proxies);

/** Closes a request's connection. Bun offers no way but its idle time, which it checks every few seconds. */
export const closerOf = (listener: Listener) => (request: Request) => listener.server?.timeout(request, 1);
