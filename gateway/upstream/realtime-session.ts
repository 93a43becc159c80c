import { type Json, objectIn, objectMember, textIn } from "../translate/exact-json.ts";
import { DRAIN } from "./drain.ts";
import { ProviderFailure } from "./failures.ts";
import { OPEN, type SocketAnswer, socketAnswer } from "./provider-sockets.ts";

type SessionEvents = {
  /** Every event, as it came. */
  event(text: string): void;
  /** A session's settings, when it begins and whenever they change. */
  settings(session: Json): void;
  /** The provider began a response by itself: it heard the end of a turn. */
  begun(id: string, answer: Promise<Response>): void;
  /** Whether what it hears is transcribed. */
  transcribes(): boolean;
  /** It transcribed what it heard, which it bills besides. */
  transcribed(event: Json): void;
  ended(): void;
};

/** A response that was asked for and has not begun; `eventId`: by which an error names the message. */
type Asked = { eventId: string | null; answer: SocketAnswer };

const COMMITTED = "input_audio_buffer.committed";
const TRANSCRIPTION = /^conversation\.item\.input_audio_transcription\.(completed|failed)$/;
/** What OpenAI answers to a `response.create` while a response runs. */
const ONE_RUNS = "conversation_already_has_active_response";
/** Bytes that wait for a provider that reads slower than its client writes. */
const UNREAD_MAX = 1024 * 1024;
const LOOK_MS = 20;
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
    /** An error that names no message is another's, unless only a `response.create` can have it. */
    refuse(error: Json, text: string): void {
      const facts = objectMember(error, "error");
      const eventId = textIn(facts, "event_id");
      const isOurs = eventId !== null || textIn(facts, "code") === ONE_RUNS;
      const at = isOurs ? asked.findIndex((it) => it.eventId === eventId) : -1;
      if (at >= 0) asked.splice(at, 1)[0]?.answer.put(text, error);
    },
    fail(): void {
      const all = [...asked.splice(0).map(({ answer }) => answer), ...running.values()];
      for (const it of all) it.fail(new ProviderFailure("reset"));
      running.clear();
    },
  };
}

/** What is to be transcribed, which takes time and is billed when it is done. */
function transcriptions(on: Pick<SessionEvents, "transcribes" | "transcribed">) {
  const items = new Set<string>();
  return {
    items,
    /** The item, if its transcription is awaited from now on. */
    take(type: string, event: Json): string | null {
      const item = textIn(event, "item_id") ?? "";
      const isAwaited = type === COMMITTED && on.transcribes();
      if (isAwaited) items.add(item);
      const [, end] = TRANSCRIPTION.exec(type) ?? [];
      if (end) items.delete(item);
      if (end === "completed") on.transcribed(event);
      return isAwaited ? item : null;
    },
  };
}

async function read(socket: Bun.WebSocket, isOver: () => boolean): Promise<void> {
  while (!isOver() && socket.readyState === OPEN && socket.bufferedAmount > UNREAD_MAX) {
    await Bun.sleep(LOOK_MS);
  }
}

export type RealtimeSession = ReturnType<typeof realtimeSession>;

/**
 * A provider's WebSocket of one realtime session: its responses are told apart, so that each can be metered as an answer.
 * `waitMs`: how long a transcription, and once the client has left anything, is waited for.
 */
export function realtimeSession(socket: Bun.WebSocket, on: SessionEvents, waitMs: number = DRAIN.msMax) {
  const all = responses();
  const heard = transcriptions(on);
  let hasLeft = false;
  const isBusy = () => all.isBusy() || heard.items.size > 0;
  const closeIfDone = () => void (hasLeft && !isBusy() && socket.close());
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
    const item = heard.take(type, event);
    if (item !== null) setTimeout(() => heard.items.delete(item) && closeIfDone(), waitMs).unref();
    if (SETTINGS.test(type)) on.settings(objectMember(event, "session") ?? {});
  }

  socket.onmessage = ({ data }) => {
    const text = String(data);
    on.event(text);
    handle(objectIn(text) ?? {}, text);
    closeIfDone();
  };
  socket.onerror = () => socket.terminate();
  socket.onclose = () => {
    all.fail();
    heard.items.clear();
    on.ended();
  };
  return {
    isBusy,
    /** Resolves once the provider has read most of what was sent, or the client has left. */
    ready: () => read(socket, () => hasLeft),
    cancel,
    send: (text: string) => void socket.send(text),
    async ask(text: string, eventId: string | null, signal: AbortSignal): Promise<Response> {
      if (hasLeft || socket.readyState !== OPEN) throw new ProviderFailure("reset");
      const it: Asked = { eventId, answer: socketAnswer() };
      all.asked.push(it);
      signal.addEventListener("abort", () => {
        const at = all.asked.indexOf(it);
        if (at >= 0) all.asked.splice(at, 1)[0]?.answer.fail(new ProviderFailure("timeout_first_byte"));
        closeIfDone();
      });
      socket.send(text);
      return await it.answer.answer;
    },
    /** The client has left: what runs is cancelled, and its end awaited for its usage, but not for long. */
    leave() {
      hasLeft = true;
      for (const id of all.running.keys()) cancel(id);
      setTimeout(() => socket.terminate(), waitMs).unref();
      closeIfDone();
    },
  };
}
