import { newId } from "#shared/ids.ts";
import { errorFields } from "#shared/log.ts";
import type { CallSocket, JsonBody } from "../call.ts";
import { GatewayError, refuse } from "../errors.ts";
import { isEventType } from "../http/content-type.ts";
import { CALL } from "../http/deciding-names.ts";
import { memberValue, scanJson, stringMember } from "../http/scan.ts";
import { splice } from "../http/splice.ts";
import { sseSplitter } from "../metering/sse.ts";
import { errorAnswer } from "../plugins/error-answers.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import type { ProviderFacts } from "../providers/provider-facts.ts";
import { objectIn, objectMember } from "../translate/exact-json.ts";
import { requestEcho } from "../translate/responses/echo.ts";
import type { ProviderSockets } from "../upstream/provider-sockets.ts";
import { joinedItems } from "../upstream/socket-conversation.ts";
import { type ClientConnection, callOn } from "./client-socket.ts";
import { finishedIn, outputItems, type ResponseMemory } from "./response-memory.ts";

export type SocketConnection = ClientConnection & {
  memory: ResponseMemory;
  providers: ProviderSockets;
  /** Providers that took no WebSocket. */
  lacking: Set<string>;
};

/** A `response.create`: its body as one of `POST /v1/responses`, and what only WebSockets have. */
export type ResponseAsked = { body: JsonBody; lane: string | null; generates: boolean };

/** @throws GatewayError invalid_request */
export function askedIn(message: string | Uint8Array): ResponseAsked {
  const sent = scanJson(typeof message === "string" ? new TextEncoder().encode(message) : message, CALL);
  if (memberValue(sent, "type") !== "response.create") refuse("`type` must be `response.create`.");
  if ((memberValue(sent, "stream") ?? true) !== true)
    refuse("`stream` must be absent: a WebSocket always streams.");
  const edits = { remove: ["type", "stream_id", "generate"], add: { stream: true }, keepRoute: true };
  return {
    body: scanJson(splice(sent, edits), CALL),
    lane: stringMember(sent, "stream_id"),
    generates: memberValue(sent, "generate") !== false,
  };
}

/** Answers one request, however it ends: as a call of its own over the whole way of `POST /v1/responses`. */
export async function respond(it: SocketConnection, asked: ResponseAsked): Promise<void> {
  try {
    if (!asked.generates) return await warmUp(it, asked);
    const { socket, namesLane } = socketOf(it, asked.lane);
    const answer = await callOn(it, { surface: "responses", body: asked.body, socket });
    for await (const text of eventTexts(answer, it, asked)) {
      remember(it, asked, text);
      await it.put(namesLane() ? text : withLane(text, asked.lane));
    }
  } catch (error) {
    await sendRefusal(it, error, asked);
  }
}

/** `refused`: the id of the message, where errors have ids as realtime events do. */
type Refusing = ClientConnection & Partial<Pick<SocketConnection, "memory">> & { refused?: string | null };

export async function sendRefusal(it: Refusing, error: unknown, asked?: ResponseAsked): Promise<void> {
  if (!(error instanceof GatewayError)) it.deps.log.error(errorFields(error), "request failed");
  const answer = errorAnswer(error, new Request("http://gateway/v1/responses"));
  await it.put(withLane(await errorEvent(answer, it, asked), asked?.lane ?? null));
}

/** The WebSocket as one response sees it; `namesLane`: its events come from a provider's, and name their lane. */
function socketOf({ providers, lacking, memory }: SocketConnection, lane: string | null) {
  let byProvider = false;
  const socket: CallSocket = {
    serves: ({ provider, wire }) => {
      const { responsesSocket }: ProviderFacts = PROVIDERS[provider.kind];
      return responsesSocket === true && wire === "responses" && !lacking.has(provider.name);
    },
    async send(sending) {
      const answer = await providers.send(sending, lane);
      byProvider = answer !== null;
      if (!byProvider) lacking.add(sending.target.provider.name);
      return answer;
    },
    conversation: memory.find,
  };
  return { socket, namesLane: () => byProvider };
}

/** The events of an answer, as texts. @throws GatewayError upstream_broken */
export async function* eventTexts(
  answer: Response,
  it: Refusing,
  asked?: ResponseAsked,
): AsyncGenerator<string> {
  const { left } = it;
  if (!answer.ok) return yield await errorEvent(answer, it, asked);
  if (!answer.body || !isEventType(answer.headers.get("content-type"))) {
    return yield JSON.stringify({ type: "response.completed", response: await answer.json() });
  }
  const reader = answer.body.getReader();
  const leave = () => void reader.cancel().catch(() => undefined);
  if (left.aborted) leave();
  left.addEventListener("abort", leave, { once: true });
  const splitter = sseSplitter();
  try {
    for (let done = false; !done; ) {
      const part = await reader.read();
      done = part.done;
      const events = part.done ? [splitter.end()] : splitter.push(part.value);
      const texts = events.map((event) => (event ? decoder.decode(event.data).trim() : ""));
      yield* texts.filter((text) => text !== "" && text !== "[DONE]");
    }
  } catch (cause) {
    throw new GatewayError("upstream_broken", undefined, cause);
  } finally {
    left.removeEventListener("abort", leave);
  }
}

const NOT_FOUND = "previous_response_not_found";
const REFERS = /previous[_ ]response/i;
const LAST = /"response\.(?:completed|incomplete)"/;

/** A client that stores its response at the vendor can refer to it there. */
function remember({ memory, left }: SocketConnection, { body, lane }: ResponseAsked, text: string): void {
  if (left.aborted || memberValue(body, "store") !== false || !LAST.test(text)) return;
  const response = finishedIn(objectIn(text));
  const before = response && memory.upTo(body);
  if (response && before !== null) {
    const items = joinedItems(before, outputItems(response));
    memory.keep(lane, { id: String(response["id"]), items, isOurs: false });
  }
}

/** Nothing is generated, so no provider is asked: the items wait here for the request that continues them. */
async function warmUp({ deps, memory, put }: SocketConnection, { body, lane }: ResponseAsked): Promise<void> {
  const items = memory.upTo(body);
  const id = `resp_warm${newId().replaceAll("-", "")}`;
  if (items !== null) memory.keep(lane, { id, items, isOurs: true });
  const created_at = Math.floor(deps.clock.now().getTime() / 1000);
  const echo = requestEcho(objectIn(decoder.decode(body.bytes)) ?? {});
  const head = {
    id,
    object: "response",
    created_at,
    model: stringMember(body, "model"),
    output: [],
    ...echo,
  };
  const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  const events = [
    { type: "response.created", response: { ...head, status: "in_progress", usage: null } },
    { type: "response.completed", response: { ...head, status: "completed", usage } },
  ];
  for (const [sequence_number, event] of events.entries()) {
    await put(withLane(JSON.stringify({ ...event, sequence_number }), lane));
  }
}

const decoder = new TextDecoder();

/** Events of a request that named its lane name it, too. */
const withLane = (text: string, lane: string | null): string =>
  lane === null ? text : `{"stream_id":${JSON.stringify(lane)},${text.slice(1)}`;

/** An answer that is an error, in OpenAI's form for WebSockets, with the code at which clients send the whole conversation. */
async function errorEvent(answer: Response, it: Refusing, asked?: ResponseAsked): Promise<string> {
  const { memory, refused } = it;
  const unread = { type: "server_error", code: null, message: "The provider refused the call.", param: null };
  const error = objectMember(objectIn(await answer.text()), "error") ?? unread;
  const { status, headers } = answer;
  const previous = asked && memberValue(asked.body, "previous_response_id");
  const isLost = status === 400 && typeof previous === "string" && memory?.find(previous) === null;
  const coded = isLost && REFERS.test(String(error["message"])) ? { ...error, code: NOT_FOUND } : error;
  const event = { type: "error", status, error: coded, headers: Object.fromEntries(headers) };
  if (refused === undefined) return JSON.stringify(event);
  const event_id = `event_${newId().replaceAll("-", "")}`;
  return JSON.stringify({ ...event, event_id, error: { ...coded, event_id: refused } });
}
