import { providerSockets } from "../upstream/provider-sockets.ts";
import { type ClientSocketDeps, clientSocket } from "./client-socket.ts";
import { documented, NO_CLIENT_KEY } from "./documented.ts";
import { type MemoryTaken, responseMemory } from "./response-memory.ts";
import { askedIn, respond, type SocketConnection, sendRefusal } from "./socket-response.ts";

/** Requests of one connection that run or wait; OpenAI's own figure. */
const WAITING_MAX = 16;

const DETAIL = documented("Responses over a WebSocket", {
  tag: "Model surfaces",
  description:
    "OpenAI's WebSocket mode. Each `response.create` is recorded, limited and judged as a call of its own. A provider without WebSockets gets it over HTTP.",
  answers: {
    101: "The connection is a WebSocket from now on.",
    ...NO_CLIENT_KEY,
    426: "The request asks for no WebSocket.",
  },
});

/** Azure's query says the version of the API, which says nothing to other vendors. */
const atAzures = /\/openai(?:\/v1)?\/responses(?:\?.*)?$/;

/** `GET /v1/responses` upgraded: each `response.create` is a call with the handshake's headers, its events messages. */
export function responsesSocket(deps: ClientSocketDeps) {
  const kept: MemoryTaken = { length: 0 };
  return clientSocket(deps, {
    name: "responses-socket",
    addresses: ["/v1/responses", "/openai/v1/responses", "/openai/responses"],
    detail: DETAIL,
    connect(connection) {
      const it: SocketConnection = {
        ...connection,
        url: connection.url.replace(atAzures, "/v1/responses"),
        memory: responseMemory(kept),
        providers: providerSockets(deps.openSocket),
        lacking: new Set<string>(),
      };
      return {
        waitingMax: WAITING_MAX,
        read(message) {
          const asked = askedIn(message);
          return { lane: asked.lane ?? "", run: () => respond(it, asked) };
        },
        refuse: (error) => sendRefusal(it, error),
        left() {
          it.providers.close();
          it.memory.clear();
        },
      };
    },
  });
}
