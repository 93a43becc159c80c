import { type Json, objectIn, objectMember, textIn } from "../translate/exact-json.ts";
import { ProviderFailure } from "./failures.ts";
import { type SocketAnswer, socketAnswer } from "./socket-answer.ts";

type SessionEvents = {
  /** Every event, as it came. */
  event(text: string): void;
  /** A session's settings, when it begins and whenever they change. */
  settings(session: Json): void;
  /** The provider began a response by itself: it heard the end of a turn. */
  begun(id: string, answer: Promise<Response>): void;
  /** It transcribed what it heard, which it bills besides. */
  transcribed(event: Json): void;
  ended(): void;
};

/** A response that was asked for and has not begun; `eventId`: by which an error names the message. */
type Asked = { eventId: string | null; answer: SocketAnswer };

const TRANSCRIBED = "conversation.item.input_audio_transcription.completed";
const SETTINGS = /^session\.(?:created|updated)$/;

/** Of the response that an event belongs to. */
const idIn = (event: Json): string =>
  textIn(objectMember(event, "response"), "id") ?? textIn(event, "response_id") ?? "";

/** The responses of a session, each as an answer. */
function responses() {
  const asked: Asked[] = [];
  const running = new Map<string, SocketAnswer>();
  return {
    asked,
    running,
    isBusy: () => asked.length + running.size > 0,
    /** The answer, if no one asked for it, so that nothing meters it yet. */
    begin(id: string): Promise<Response> | null {
      const next = asked.shift();
      const answer = next?.answer ?? socketAnswer();
      running.set(id, answer);
      return next ? null : answer.answer;
    },
    take(id: string, text: string, isLast: boolean): void {
      const answer = running.get(id);
      answer?.put(text);
      if (!isLast) return;
      answer?.end();
      running.delete(id);
    },
    refuse(error: Json | null, text: string): void {
      const eventId = textIn(objectMember(error, "error"), "event_id");
      const at = asked.findIndex((it) => it.eventId === eventId);
      if (at >= 0) asked.splice(at, 1)[0]?.answer.put(text, error);
    },
    fail(): void {
      const all = [...asked.splice(0).map(({ answer }) => answer), ...running.values()];
      for (const it of all) it.fail(new ProviderFailure("reset"));
      running.clear();
    },
  };
}

export type RealtimeSession = ReturnType<typeof realtimeSession>;

/** A provider's WebSocket of one realtime session: its responses are told apart, so that each can be metered as an answer. */
export function realtimeSession(socket: Bun.WebSocket, on: SessionEvents) {
  const all = responses();
  let hasLeft = false;
  const cancel = (id: string) =>
    void socket.send(JSON.stringify({ type: "response.cancel", response_id: id }));
  function begin(id: string): void {
    const unasked = all.begin(id);
    if (unasked) on.begun(id, unasked);
    if (hasLeft) cancel(id);
  }
  function handle(event: Json, text: string): void {
    const type = textIn(event, "type") ?? "";
    const id = idIn(event);
    if (type === "error") all.refuse(event, text);
    if (type === "response.created") begin(id);
    all.take(id, text, type === "response.done");
    if (type === TRANSCRIBED) on.transcribed(event);
    if (SETTINGS.test(type)) on.settings(objectMember(event, "session") ?? {});
  }

  socket.onmessage = ({ data }) => {
    const text = String(data);
    on.event(text);
    handle(objectIn(text) ?? {}, text);
    if (hasLeft && !all.isBusy()) socket.close();
  };
  socket.onerror = () => socket.terminate();
  socket.onclose = () => {
    all.fail();
    on.ended();
  };
  return {
    isBusy: all.isBusy,
    cancel,
    send: (text: string) => void socket.send(text),
    /** Asks for a response. */
    ask(text: string, eventId: string | null, signal: AbortSignal): Promise<Response> {
      const it: Asked = { eventId, answer: socketAnswer() };
      all.asked.push(it);
      signal.addEventListener("abort", () => {
        const at = all.asked.indexOf(it);
        if (at >= 0) all.asked.splice(at, 1)[0]?.answer.fail(new ProviderFailure("timeout_first_byte"));
      });
      socket.send(text);
      return it.answer.answer;
    },
    /** The client has left: what runs is cancelled, and its end awaited for its usage. */
    leave() {
      hasLeft = true;
      for (const id of all.running.keys()) cancel(id);
      if (!all.isBusy()) socket.close();
    },
  };
}
