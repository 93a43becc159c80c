import type { SocketSending } from "../call.ts";
import type { HeaderTable } from "../http/headers.ts";
import { scanJson } from "../http/scan.ts";
import { splice } from "../http/splice.ts";
import { type Json, objectIn, textIn } from "../translate/exact-json.ts";
import { ProviderFailure } from "./failures.ts";
import type { OpenSocket } from "./outbound-socket.ts";

/** `WebSocket.OPEN`. */
export const OPEN = 1;
/** WebSockets of one client's connection to providers, which keep its last responses only as long as these are open. */
export type ProviderSockets = {
  /** Sends a response's request and gives its events as those of HTTP; null: the provider takes no WebSocket. */
  send(sending: SocketSending, lane: string | null): Promise<Response | null>;
  /** Closes each once its responses have ended. */
  close(): void;
};

export function providerSockets(open: OpenSocket): ProviderSockets {
  const sockets = new Map<string, Promise<ProviderSocket | null>>();
  let isClosed = false;

  function socketFor({ url, headers, signal, target }: SocketSending): Promise<ProviderSocket | null> {
    const { allowPrivateNetwork, headers: own } = target.provider;
    const sent = ["authorization", ...Object.keys(own)].map((name) => headers[name.toLowerCase()]);
    const name = `${url} ${Bun.hash(JSON.stringify(sent))}`;
    const known = sockets.get(name);
    if (known !== undefined) return known;
    const opening = open({ url, allowPrivateNetwork, headers: handshake(headers), signal }).then(
      (socket) => socket && providerSocket(socket, () => sockets.delete(name)),
    );
    sockets.set(name, opening);
    return opening;
  }

  return {
    async send(sending, lane) {
      const socket = await socketFor(sending);
      if (!socket) return null;
      const added = { type: "response.create", ...(lane !== null && { stream_id: lane }) };
      const body = splice(scanJson(sending.body), { remove: ["stream"], add: added });
      sending.onSent();
      const answer = socket.send(new TextDecoder().decode(body), lane, sending.signal);
      if (isClosed) socket.closeWhenIdle();
      return await answer;
    },
    close() {
      isClosed = true;
      for (const opening of sockets.values()) void opening.then((socket) => socket?.closeWhenIdle());
    },
  };
}

/** Those of the HTTP request that say nothing of its body. */
export function handshake(headers: HeaderTable): HeaderTable {
  const { "content-type": _, "content-length": __, "accept-encoding": ___, accept: ____, ...kept } = headers;
  return kept;
}

type ProviderSocket = {
  send(message: string, lane: string | null, signal: AbortSignal): Promise<Response>;
  closeWhenIdle(): void;
};

function providerSocket(socket: Bun.WebSocket, onClose: () => void): ProviderSocket {
  const running = new Map<string, SocketAnswer>();
  let closing = false;
  const end = (lane: string) => {
    running.delete(lane);
    if (closing && running.size === 0) socket.close();
  };

  socket.onmessage = ({ data }) => {
    const text = String(data);
    // Events name their lane only where it was given; one response alone needs no look.
    const lane = running.size === 1 ? [...running.keys()][0] : (textIn(objectIn(text), "stream_id") ?? "");
    const it = running.get(lane ?? "");
    if (!it) return;
    const last = lastEvent(text);
    it.put(text, last?.["type"] === "error" ? last : null);
    if (it.isFull()) socket.terminate();
    if (!last) return;
    it.end();
    end(lane ?? "");
  };
  socket.onerror = () => socket.terminate();
  socket.onclose = () => {
    onClose();
    for (const it of running.values()) it.fail(new ProviderFailure("reset"));
    running.clear();
  };

  return {
    send(message, lane, signal) {
      const it = socketAnswer();
      running.set(lane ?? "", it);
      // A response cannot be taken back but with its connection.
      signal.addEventListener("abort", () => running.get(lane ?? "") === it && socket.terminate());
      if (socket.readyState === OPEN) socket.send(message);
      else it.fail(new ProviderFailure("reset"));
      return it.answer;
    },
    closeWhenIdle() {
      closing = true;
      if (running.size === 0) socket.close();
    },
  };
}

/** The event, if it is a response's last. */
function lastEvent(text: string) {
  if (!/"(?:response\.(?:completed|incomplete|failed)|error)"/.test(text)) return null;
  const event = objectIn(text);
  return /^(?:response\.(?:completed|incomplete|failed)|error)$/.test(textIn(event, "type") ?? "")
    ? event
    : null;
}

/** Characters of events that wait for a client that reads slower than its provider writes. */
const WAITING_MAX = 64 * 1024 * 1024;

/** The events of one response on a provider's WebSocket, as the answer that HTTP would give. */
export function socketAnswer() {
  const answer = Promise.withResolvers<Response>();
  // Nothing may wait for it yet.
  answer.promise.catch(() => undefined);
  let events: ReadableStreamDefaultController<string> | null = null;
  let isCancelled = false;
  const begin = (): Response => {
    const stream = new ReadableStream<string>(
      {
        start(controller) {
          events = controller;
        },
        cancel() {
          isCancelled = true;
        },
      },
      { highWaterMark: WAITING_MAX, size: (text = "") => text.length },
    );
    const headers = { "content-type": "text/event-stream" };
    return new Response(stream.pipeThrough(new TextEncoderStream()), { headers });
  };
  return {
    /** Once the first event says whether it is an error. */
    answer: answer.promise,
    /** Whether too much of it waits to be read. */
    isFull: () => (events?.desiredSize ?? 0) < 0,
    /** An error before anything else is an answer of its own status; all else is the beginning of a stream. */
    put(text: string, error: Json | null = null) {
      if (!events && error) {
        const { status } = error;
        const code = typeof status === "number" && status >= 400 && status < 600 ? status : 400;
        answer.resolve(Response.json({ error: error["error"] }, { status: code }));
        return;
      }
      if (!events) answer.resolve(begin());
      if (!isCancelled) events?.enqueue(`data: ${text.replace(/\r\n|\r|\n/g, "\ndata: ")}\n\n`);
    },
    end() {
      if (!isCancelled) events?.close();
    },
    fail(cause: Error) {
      events?.error(cause);
      answer.reject(cause);
    },
  };
}

export type SocketAnswer = ReturnType<typeof socketAnswer>;
