import type { SocketSending } from "../call.ts";
import type { HeaderTable } from "../http/headers.ts";
import { scanJson } from "../http/scan.ts";
import { splice } from "../http/splice.ts";
import { objectIn, textIn } from "../translate/exact-json.ts";
import { ProviderFailure } from "./failures.ts";
import type { OpenSocket } from "./outbound-socket.ts";
import { type SocketAnswer, socketAnswer } from "./socket-answer.ts";

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
