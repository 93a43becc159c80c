import type { ServerWebSocket } from "bun";
import { GatewayError } from "../errors.ts";
import type { Listener, SocketEvents } from "../http/listener.ts";
import { keyed } from "../plugins/client-key.ts";
import type { OpenSocket } from "../upstream/outbound-socket.ts";
import { providerSockets } from "../upstream/provider-sockets.ts";
import type { SurfaceDeps } from "./model-surface.ts";
import { type MemoryTaken, responseMemory } from "./response-memory.ts";
import { askedIn, refuse, respond, type SocketConnection } from "./socket-response.ts";

export type ResponsesSocketDeps = SurfaceDeps & {
  listener: Listener;
  lifecycle: { stopping: boolean };
  openSocket: OpenSocket;
};

/** Connections of this process. */
const OPEN_MAX = 1000;
/** Requests of one connection that run or wait, and how long one lasts; OpenAI's own figures. */
const WAITING_MAX = 16;
const AGE_MAX_MS = 3_600_000;
/** How often a connection looks whether it should end. */
const LOOK_MS = 500;

const DETAIL = {
  summary: "Responses over a WebSocket",
  description:
    "OpenAI's WebSocket mode. Each `response.create` is recorded, limited and judged as a call of its own. A provider without WebSockets gets it over HTTP.",
  tags: ["Model surfaces"],
  security: [{ clientKey: [] }],
  responses: {
    "101": { description: "The connection is a WebSocket from now on." },
    "401": { description: "No valid client key." },
    "426": { description: "The request asks for no WebSocket." },
  },
};

/**
 * `GET /v1/responses` with an upgrade: OpenAI's responses over a WebSocket. Each `response.create` is a call with the headers of
 * the handshake; its events are sent as messages.
 */
export function responsesSocket(deps: ResponsesSocketDeps) {
  const kept: MemoryTaken = { length: 0 };
  const open = { count: 0 };
  const upgrade = ({ request }: { request: Request }) => {
    const refused = new GatewayError("upgrade_required");
    refused.headers = { upgrade: "websocket" };
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") throw refused;
    if (open.count >= OPEN_MAX || deps.lifecycle.stopping) throw new GatewayError("overloaded");
    const data = connected(deps, request, { kept, open });
    if (!deps.listener.server?.upgrade(request, { data })) throw refused;
  };
  const app = keyed(deps, "responses-socket").get("/v1/responses", upgrade, {
    clientKey: true,
    detail: DETAIL,
  });
  for (const address of AZURES) app.get(address, upgrade, { clientKey: true, detail: { hide: true } });
  return app;
}

/** Azure's. Their query says the version of the API, which says nothing to other vendors. */
const AZURES = ["/openai/v1/responses", "/openai/responses"];
const atAzures = /\/openai(?:\/v1)?\/responses(?:\?.*)?$/;

/** Headers of a handshake that do not belong to its calls. */
const OF_HANDSHAKE = /^(?:connection|upgrade|sec-websocket-.*|content-.*|idempotency-key|host)$/;

type Socket = ServerWebSocket<SocketEvents>;
/** What all connections of this process take. */
type Taken = { kept: MemoryTaken; open: { count: number } };

function connected(deps: ResponsesSocketDeps, request: Request, { kept, open }: Taken): SocketEvents {
  const left = new AbortController();
  const all = Object.fromEntries([...request.headers].filter(([name]) => !OF_HANDSHAKE.test(name)));
  const shared = {
    deps,
    url: request.url.replace(atAzures, "/v1/responses"),
    headers: { ...all, "content-type": "application/json" },
    left: left.signal,
    memory: responseMemory(kept),
    providers: providerSockets(deps.openSocket),
    lacking: new Set<string>(),
  };
  let drained = Promise.withResolvers<void>();
  const connectionOf = (socket: Socket): SocketConnection => ({
    ...shared,
    async put(text) {
      if (left.signal.aborted || socket.send(text) !== -1) return;
      drained = Promise.withResolvers();
      await drained.promise;
    },
    terminate: () => socket.terminate(),
  });
  const turns = lanes();
  let timer: ReturnType<typeof setInterval> | undefined;

  return {
    open(socket) {
      open.count += 1;
      timer = setInterval(endsWhenIdle(deps, socket, turns.isIdle), LOOK_MS);
      timer.unref();
    },
    message(socket, message) {
      const it = connectionOf(socket);
      const hold = deps.bodyBudget.hold();
      try {
        if (turns.count() >= WAITING_MAX) throw new GatewayError("overloaded");
        hold.take(message.length);
        const asked = askedIn(message);
        turns.take(asked.lane ?? "", async () => {
          // From now on it is counted as the call's.
          hold.release();
          if (!left.signal.aborted) await respond(it, asked);
        });
      } catch (error) {
        hold.release();
        void refuse(it, error);
      }
    },
    drain: () => drained.resolve(),
    close() {
      open.count -= 1;
      clearInterval(timer);
      left.abort();
      drained.resolve();
      shared.providers.close();
      shared.memory.clear();
    },
  };
}

/** Requests of one lane are answered in turn, those of several at once. */
function lanes() {
  const last = new Map<string, Promise<void>>();
  let waiting = 0;
  return {
    count: () => waiting,
    isIdle: () => waiting === 0,
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
function endsWhenIdle({ clock, lifecycle }: ResponsesSocketDeps, socket: Socket, isIdle: () => boolean) {
  const openedMs = clock.monotonicMs();
  return () => {
    const isOld = clock.monotonicMs() - openedMs > AGE_MAX_MS;
    if (!isIdle() || !(isOld || lifecycle.stopping)) return;
    if (isOld) socket.send(JSON.stringify(TOO_OLD));
    socket.close(lifecycle.stopping ? 1001 : 1000);
  };
}
