import type { ServerWebSocket } from "bun";
import type { CallSocket, JsonBody } from "../call.ts";
import { GatewayError } from "../errors.ts";
import { cachedHeaders, type HeaderTable } from "../http/headers.ts";
import type { Listener, SocketEvents } from "../http/listener.ts";
import { authenticate, type Caller, keyed } from "../plugins/client-key.ts";
import type { SurfaceName } from "../surface-facts.ts";
import type { OpenSocket } from "../upstream/outbound-socket.ts";
import { type SurfaceDeps, serve } from "./model-surface.ts";

export type ClientSocketDeps = SurfaceDeps & {
  listener: Listener;
  lifecycle: { stopping: boolean };
  openSocket: OpenSocket;
};

/** Connections of this process at one address. */
const OPEN_MAX = 1000;
/** How long a connection lasts; OpenAI's own figure. */
const AGE_MAX_MS = 3_600_000;
/** How often a connection looks whether it should end. */
const LOOK_MS = 500;

/** A client's WebSocket. */
export type ClientConnection = {
  deps: SurfaceDeps;
  url: string;
  /** Those of the handshake that are a call's. */
  headers: HeaderTable;
  /** Aborted when the client has left. */
  left: AbortSignal;
  /** Sends a message; waits while the client reads slower. */
  put(text: string): Promise<void>;
  close(code: number): void;
  terminate(): void;
};

/** What is done with the messages of one connection. */
export type MessageHandler = {
  /** Messages that run or wait. */
  waitingMax: number;
  /** What a message asks for; those of one lane run in turn. @throws GatewayError */
  read(message: string | Uint8Array): { lane: string; run(): Promise<void> };
  refuse(error: unknown): Promise<void>;
  /** Whether something runs that no message asked for. */
  isBusy?(): boolean;
  /** Resolves once a message may run. Until then its bytes are counted as those of bodies that are read. */
  ready?(): Promise<void> | undefined;
  left(): void;
};

type SocketAddress = {
  name: string;
  addresses: readonly string[];
  detail: object;
  /** Before the upgrade, so that a refusal is an answer over HTTP. */
  connect(it: ClientConnection, request: Request, caller: Caller): MessageHandler | Promise<MessageHandler>;
};

/** A `GET` with an upgrade, at several addresses; any other is 426. */
export function clientSocket(deps: ClientSocketDeps, { name, addresses, detail, connect }: SocketAddress) {
  const open = { count: 0 };
  const upgrade = async ({ request, caller }: { request: Request; caller: Caller }) => {
    const refused = new GatewayError("upgrade_required");
    refused.headers = { upgrade: "websocket" };
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") throw refused;
    if (open.count >= OPEN_MAX || deps.lifecycle.stopping) throw new GatewayError("overloaded");
    const { connection, events } = connected(deps, request);
    const giveBack = () => {
      open.count -= 1;
    };
    // The handshake with a vendor takes time, in which others come.
    open.count += 1;
    try {
      const handler = await connect(connection, request, caller);
      if (deps.listener.server?.upgrade(request, { data: events(handler, giveBack) })) return;
      handler.left();
      throw refused;
    } catch (error) {
      giveBack();
      throw error;
    }
  };
  const app = keyed(deps, name);
  for (const [index, address] of addresses.entries()) {
    app.get(address, upgrade, { clientKey: true, detail: index === 0 ? detail : { hide: true } });
  }
  return app;
}

type CallAsked = {
  surface: SurfaceName;
  body: JsonBody;
  socket: CallSocket;
  named?: { model: string | null; streamed: boolean };
};

/** Makes one call of a connection, with the headers of its handshake. */
export async function callOn(it: ClientConnection, { body, ...asked }: CallAsked): Promise<Response> {
  const bytes = new Uint8Array(body.bytes);
  const headers = { ...it.headers, "content-length": String(bytes.length) };
  const request = new Request(it.url, { method: "POST", headers, body: bytes, signal: it.left });
  // Keys are revoked and changed while connections last.
  const known = await authenticate(it.deps.callers, request);
  const caller = { ...known, headers: cachedHeaders(request.headers) };
  return await serve({ ...it.deps, closeConnection: it.terminate }, { ...asked, caller, request });
}

/** Headers of a handshake that do not belong to its calls. */
const OF_HANDSHAKE = /^(?:connection|upgrade|sec-websocket-.*|content-.*|idempotency-key|host)$/;

type Socket = ServerWebSocket<SocketEvents>;

function connected(deps: ClientSocketDeps, request: Request) {
  const gone = new AbortController();
  const opened = Promise.withResolvers<Socket>();
  let socket: Socket | null = null;
  /** Of all messages that wait. */
  let drained: PromiseWithResolvers<void> | null = null;
  const drain = () => {
    drained?.resolve();
    drained = null;
  };
  const all = Object.fromEntries([...request.headers].filter(([name]) => !OF_HANDSHAKE.test(name)));
  const connection: ClientConnection = {
    deps,
    url: request.url,
    headers: { ...all, "content-type": "application/json" },
    left: gone.signal,
    async put(text) {
      socket ??= await opened.promise;
      if (gone.signal.aborted || socket.send(text) !== -1) return;
      drained ??= Promise.withResolvers();
      await drained.promise;
    },
    close: (code) => void opened.promise.then((socket) => socket.close(code)),
    terminate: () => void opened.promise.then((socket) => socket.terminate()),
  };
  const events = (handler: MessageHandler, closed: () => void): SocketEvents => {
    const turns = lanes();
    const isIdle = () => turns.count() === 0 && handler.isBusy?.() !== true;
    let timer: ReturnType<typeof setInterval> | undefined;
    return {
      open(socket) {
        opened.resolve(socket);
        timer = setInterval(endsWhenIdle(deps, socket, isIdle), LOOK_MS);
        timer.unref();
      },
      message(_, message) {
        const hold = deps.bodyBudget.hold();
        try {
          if (turns.count() >= handler.waitingMax) throw new GatewayError("overloaded");
          hold.take(message.length);
          const { lane, run } = handler.read(message);
          turns.take(lane, async () => {
            await handler.ready?.();
            // From now on it is counted as the call's.
            hold.release();
            if (!gone.signal.aborted) await run();
          });
        } catch (error) {
          hold.release();
          void handler.refuse(error);
        }
      },
      drain,
      close() {
        closed();
        clearInterval(timer);
        gone.abort();
        drain();
        handler.left();
      },
    };
  };
  return { connection, events };
}

/** Messages of one lane run in turn, those of several at once. */
function lanes() {
  const last = new Map<string, Promise<void>>();
  let waiting = 0;
  return {
    count: () => waiting,
    take(lane: string, work: () => Promise<void>) {
      waiting += 1;
      const before = last.get(lane) ?? Promise.resolve();
      const turn = before.then(work).finally(() => {
        waiting -= 1;
        if (last.get(lane) === turn) last.delete(lane);
      });
      last.set(lane, turn);
    },
  };
}

const TOO_OLD = {
  type: "error",
  status: 400,
  error: {
    type: "invalid_request_error",
    code: "websocket_connection_limit_reached",
    message: "This connection has been open for 60 minutes. Continue on a new one.",
    param: null,
  },
};

/** Closes a connection that is too old, or whose process stops, once nothing is under way on it. */
function endsWhenIdle({ clock, lifecycle }: ClientSocketDeps, socket: Socket, isIdle: () => boolean) {
  const openedMs = clock.monotonicMs();
  return () => {
    const isOld = clock.monotonicMs() - openedMs > AGE_MAX_MS;
    if (!isIdle() || !(isOld || lifecycle.stopping)) return;
    if (isOld) socket.send(JSON.stringify(TOO_OLD));
    socket.close(lifecycle.stopping ? 1001 : 1000);
  };
}
