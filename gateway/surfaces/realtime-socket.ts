import type { CallSocket, Choice, JsonBody, SocketSending, Target } from "../call.ts";
import { GatewayError, refuse } from "../errors.ts";
import { routingLookups } from "../exchange.ts";
import { CALL, REALTIME_MESSAGE } from "../http/deciding-names.ts";
import { memberValue, scanJson, stringMember } from "../http/scan.ts";
import { splice } from "../http/splice.ts";
import type { Caller } from "../plugins/client-key.ts";
import { chooseRoute } from "../routing/choose.ts";
import { isJson, type Json, jsonBytes, objectMember, textIn } from "../translate/exact-json.ts";
import { ProviderFailure } from "../upstream/failures.ts";
import { handshake } from "../upstream/provider-sockets.ts";
import { type RealtimeSession, realtimeSession } from "../upstream/realtime-session.ts";
import type { MessageHandler } from "./client-socket.ts";
import { type ClientConnection, type ClientSocketDeps, callOn, clientSocket } from "./client-socket.ts";
import { modelDocs } from "./model-docs.ts";
import { eventTexts, sendRefusal } from "./socket-response.ts";

const ROOTS = ["/v1", "/openai/v1", "/openai"];

/** It has no body. */
const { requestBody: _, ...DETAIL } = modelDocs("realtime");

/**
 * `GET /v1/realtime?model=` with an upgrade: OpenAI's realtime API. Messages and events pass as they are. Each response, and each
 * transcription of what was said, is a call with the headers of the handshake; what adds text to the conversation is judged before it
 * is sent.
 */
export function realtimeSocket(deps: ClientSocketDeps) {
  const app = clientSocket(deps, {
    name: "realtime-socket",
    addresses: ROOTS.map((root) => `${root}/realtime`),
    detail: DETAIL,
    connect: (connection, request, caller) => connect(deps, { connection, request, caller }),
  });
  for (const root of ROOTS) {
    app.post(`${root}/realtime/*`, aroundGateway, { clientKey: true, parse: "none", detail: { hide: true } });
  }
  return app;
}

function aroundGateway(): never {
  refuse(
    "Client secrets and calls (WebRTC, SIP) would bypass the gateway. Connect by WebSocket to `/v1/realtime?model=` with a client key.",
  );
}

/** Messages that run or wait: those with sound are many, and wait only for those before them. */
const WAITING_MAX = 1000;
/** They add no text and begin no response. */
const PLAIN =
  /^(?:(?:input|output)_audio_buffer\.\w+|response\.cancel|conversation\.item\.(?:truncate|delete|retrieve))$/;
const NOTHING = scanJson(jsonBytes({}));

type Connecting = { connection: ClientConnection; request: Request; caller: Caller };
/** What one connection has for all of its calls. */
type Connected = ClientConnection & {
  choice: Choice;
  /** The target that took the handshake, and its side; null before. */
  target: Target | null;
  session: RealtimeSession | null;
  settings: Settings;
};
/** Of a session, as its provider has it: the model that transcribes, and the most that an answer may have. */
type Settings = { transcriber: string | null; outputMax: number | null };

async function connect(
  deps: ClientSocketDeps,
  { connection, request, caller }: Connecting,
): Promise<MessageHandler> {
  const query = new URL(request.url).searchParams;
  const model = query.get("model") ?? query.get("deployment");
  if (model === null) refuse("The address needs `?model=`.");
  const asked = { surface: "realtime", ...caller, body: NOTHING, model, routeMember: null } as const;
  const choice = chooseRoute(deps.directory.current(), asked, routingLookups(deps.prices(), deps));
  const settings: Settings = { transcriber: null, outputMax: null };
  const it: Connected = { ...connection, choice, target: null, session: null, settings };
  await made(it, {
    surface: "realtime.session",
    async send({ url, headers, signal, onSent, target }) {
      const { allowPrivateNetwork } = target.provider;
      const to = `${url}?model=${encodeURIComponent(target.model ?? "")}`;
      const address = { url: to, allowPrivateNetwork, signal };
      const socket = await deps.openSocket({ ...address, headers: handshake(headers) });
      if (!socket) throw new ProviderFailure("refused");
      onSent();
      it.target = target;
      it.session = sessionOf(it, socket);
      return Response.json({});
    },
  });
  return {
    waitingMax: WAITING_MAX,
    read(message) {
      const text = typeof message === "string" ? message : new TextDecoder().decode(message);
      const sent = scanJson(new TextEncoder().encode(text), REALTIME_MESSAGE);
      const type = stringMember(sent, "type") ?? "";
      const run = async () => {
        if (PLAIN.test(type)) it.session?.send(text);
        else await (type === "response.create" ? respond : judge)(it, { sent, text });
      };
      return { lane: "", run };
    },
    refuse: (error) => sendRefusal({ ...it, refused: null }, error),
    isBusy: () => it.session?.isBusy() === true,
    ready: () => it.session?.ready(),
    left: () => it.session?.leave(),
  };
}

type Making = {
  surface: "realtime" | "realtime.session";
  body?: JsonBody;
  model?: string | null;
  /** The id of the message that asks for it. */
  eventId?: string | null;
  send(sending: SocketSending): Response | Promise<Response>;
  refused?(refusal: GatewayError): void;
};

/** One call at the provider that took the handshake, as the directory has it now. The client has its events already. */
async function made(
  it: Connected,
  { surface, body = NOTHING, model = null, send, refused }: Making,
): Promise<void> {
  const { target, choice } = it;
  const provider = target && it.deps.directory.current().providers.get(target.provider.name);
  if (target && !provider) throw new GatewayError("provider_unconfigured");
  const pinned = target && provider && { ...target, provider, model: model ?? target.model };
  const named = { model: model ?? choice.targets[0].model, streamed: surface === "realtime" };
  const socket: CallSocket = {
    choice: pinned ? { ...choice, targets: [pinned] } : choice,
    serves: () => true,
    ...(refused && { refused }),
    conversation: () => null,
    async send(sending) {
      if (target) sending.onSent();
      return await send(sending);
    },
  };
  const answer = await callOn(it, { surface, body, named, socket });
  for await (const _ of eventTexts(answer, it)) {
    // The meter has read it.
  }
}

/** The same; what refuses it is an event. Whether nothing did. */
const told = (it: Connected, making: Making): Promise<boolean> =>
  made(it, making).then(
    () => true,
    (error) => sendRefusal({ ...it, refused: making.eventId ?? null }, error).then(() => false),
  );

/** Policy violation (RFC 6455). */
const POLICY = 1008;
/** Characters of events that wait for a client that reads slower than its provider writes. */
const EVENTS_MAX = 64 * 1024 * 1024;

/** The provider's side, whose events go to the client, and whose responses are calls. */
function sessionOf(it: Connected, socket: Bun.WebSocket): RealtimeSession {
  let sending = Promise.resolve();
  let waiting = 0;
  /** A response that the provider begins by itself. It would continue after a refusal, so the connection is closed. */
  const own = async (making: Pick<Making, "send" | "model">, stop?: () => void) => {
    const refused = (error: GatewayError) => {
      stop?.();
      void sendRefusal({ ...it, refused: null }, error).then(() => it.close(POLICY));
    };
    if (await told(it, { surface: "realtime", refused, ...making })) return;
    stop?.();
    it.close(POLICY);
  };
  return realtimeSession(socket, {
    event(text) {
      waiting += text.length;
      if (waiting > EVENTS_MAX) it.terminate();
      const put = () => it.put(text);
      sending = sending.then(put).finally(() => {
        waiting -= text.length;
      });
    },
    settings: (changed) => Object.assign(it.settings, settingsIn(changed)),
    begun: (id, answer) => void own({ send: () => answer }, () => it.session?.cancel(id)),
    transcribes: () => it.settings.transcriber !== null,
    transcribed: (event) => void own({ model: it.settings.transcriber, send: () => Response.json(event) }),
    ended: () => void sending.then(() => it.close(1000)),
  });
}

type Message = { sent: JsonBody; text: string };

/** Asks for a response; resolves once it is asked for, or refused. */
function respond(it: Connected, { sent, text }: Message): Promise<void> {
  const asked = Promise.withResolvers<void>();
  const response = memberValue(sent, "response");
  const limit = (isJson(response) ? response["max_output_tokens"] : null) ?? it.settings.outputMax;
  const body = scanJson(splice(sent, { add: { max_output_tokens: limit } }), CALL);
  const eventId = stringMember(sent, "event_id");
  void told(it, {
    surface: "realtime",
    body,
    eventId,
    async send({ signal }) {
      const answer = it.session?.ask(text, eventId, signal);
      asked.resolve();
      return (await answer) ?? Response.error();
    },
  }).finally(asked.resolve);
  return asked.promise;
}

/** Sends a message that adds text, or changes the session, once guardrails and the key's scope allow it. */
async function judge(it: Connected, { sent, text }: Message): Promise<void> {
  const changed = memberValue(sent, "session");
  const named = isJson(changed) ? [textIn(changed, "model"), settingsIn(changed).transcriber] : [];
  const models = named.filter((model) => model !== null && model !== it.target?.model);
  const body = scanJson(splice(sent, { add: { models } }), CALL);
  const send = () => {
    it.session?.send(text);
    return Response.json({});
  };
  const eventId = stringMember(sent, "event_id");
  await told(it, { surface: "realtime.session", body, eventId, send });
}

/** In the form of now, or that of the beta. */
function settingsIn(session: Json): Settings {
  const input = objectMember(objectMember(session, "audio"), "input");
  const transcription =
    objectMember(input, "transcription") ?? objectMember(session, "input_audio_transcription");
  const limit = session["max_output_tokens"] ?? session["max_response_output_tokens"];
  return {
    transcriber: textIn(transcription, "model"),
    outputMax: typeof limit === "number" ? limit : null,
  };
}
