import { callerAddress, type TrustedProxies } from "#shared/proxies.ts";

/** The server once it listens, which knows the callers' connections. */
export type Listener = {
  server: {
    requestIP(request: Request): { address: string } | null;
    timeout(request: Request, seconds: number): void;
  } | null;
};

/** The IP address of whoever makes a request, maybe through proxies; null: it is not known. */
export const addressIn = (listener: Listener, proxies: TrustedProxies) => (request: Request) =>
  callerAddress(listener.server, request, proxies);

/** Closes a request's connection. Bun offers no way but its idle time, which it checks every few seconds. */
export const closerOf = (listener: Listener) => (request: Request) => listener.server?.timeout(request, 1);
