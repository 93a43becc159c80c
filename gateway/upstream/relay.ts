import type { Clock } from "#shared/clock.ts";
import type { FailureCause } from "../errors.ts";
import type { Meter } from "../metering/meter.ts";
import type { Reading } from "../reading.ts";
import { DRAIN, type Drains } from "./drain.ts";
import { failureCauseOf } from "./failures.ts";
import type { Patience } from "./patience.ts";
import type { Watchdog, Watched } from "./watchdog.ts";
import type { AnswerPart } from "./whole-body.ts";

export type Ending = "complete" | "client_gone" | "upstream_broken";

export type StreamRelay = {
  read(): Promise<AnswerPart>;
  /** The answer is framed (length or chunked), so the end of the body counts even without a terminal event. */
  framed: boolean;
  /** The wire has no terminal event: the answer is complete when the body ends. */
  endsWithBody: boolean;
  /** The wire has no terminal event, but its last one says that all was sent. */
  noLastEvent?: boolean;
  meter: Meter;
  clock: Clock;
  watchdog: Watchdog;
  patience: Patience;
  /** Of a translated stream: sent where the provider sends what the client's format has no event for; absent: nothing. */
  ping?: Uint8Array;
  /** Silence allowed between two chunks from the provider. */
  idleMs: number;
  /** Null: the answer is aborted as soon as its client leaves. */
  drains: Drains | null;
  abort(): void;
  /** Closes the client's connection, which otherwise stays as long as Bun lets it be idle: what is unread is not sent. */
  closeConnection?: (() => void) | undefined;
  /** Called once, at the first chunk with content. */
  onContent(): void;
  /** Called once; the record is durable when it resolves, and only then does the end reach the client. */
  settle(ending: Ending, reading: Reading, cause: FailureCause | null): Promise<void>;
};

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** State of one stream. `reading`: a read from the provider is pending; `gone`: the client has disconnected. */
type Run = {
  relay: StreamRelay;
  watched: Watched;
  controller: Controller | null;
  reading: boolean;
  gone: boolean;
  /** The provider's body ended normally. */
  ended: boolean;
  /** The provider was silent for too long. */
  late: boolean;
  settled: boolean;
  contentReported: boolean;
  /** When the client last got a byte of a translated stream. */
  sentMs: number;
};

/** An empty line, which ends no event. Google's clients take a comment for half an event. */
const GREETING = new TextEncoder().encode("\n");
/** Shorter than the silence that common proxies allow. */
const PING_MS = 10_000;

const broken = () => new Error("the provider's answer ended early");

/**
 * Relays a stream through the meter. The client pulls, so a slow client slows the provider and costs no memory. Settles
 * exactly once, however it ends; the chunk with the terminal event is not sent before that.
 */
export function relayStream(relay: StreamRelay): ReadableStream<Uint8Array> {
  const run: Run = {
    relay,
    watched: {
      deadlineMs: relay.clock.monotonicMs() + relay.patience.readerMs,
      client: true,
      expire: () => expire(run),
    },
    controller: null,
    reading: false,
    gone: false,
    ended: false,
    late: false,
    settled: false,
    contentReported: false,
    sentMs: relay.clock.monotonicMs(),
  };
  relay.watchdog.watch(run.watched);
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        run.controller = controller;
        // Bun sends the head with the first byte, and a proxy in front waits for it.
        if (relay.ping) controller.enqueue(GREETING);
      },
      pull: (controller) => pull(run, controller),
      cancel: () => leave(run),
    },
    // Read no chunk before the client requests it.
    { highWaterMark: 0 },
  );
}

/** The client left. A pending read returns to `pull`, which then drains; a silent provider must not hold it up. */
function leave(run: Run): void {
  const { drains, clock, abort } = run.relay;
  run.gone = true;
  if (!run.reading) void drain(run);
  else if (!drains) abort();
  else run.watched.deadlineMs = Math.min(run.watched.deadlineMs, clock.monotonicMs() + DRAIN.msMax);
}

async function pull(run: Run, controller: Controller): Promise<void> {
  try {
    // A pull must enqueue something or end the stream; otherwise it is not called again.
    for (let output = false; !output; ) {
      // Every further `async` function on this path would cost additional promises per chunk.
      const stepped = step(run, controller, chunkOf(run, await read(run)));
      output = typeof stepped === "boolean" ? stepped : await stepped;
    }
  } catch (error) {
    run.reading = false;
    run.relay.watchdog.release(run.watched);
    run.relay.meter.rest();
    if (run.gone) await settle(run, "client_gone");
    else await settle(run, "upstream_broken", run.late ? "timeout_idle" : failureCauseOf(error));
    if (!run.gone) controller.error(broken());
  }
}

/** Handles one chunk, or null at the end; true once the client got something or the stream has ended. */
function step(run: Run, controller: Controller, chunk: Uint8Array | null): boolean | Promise<boolean> {
  if (run.gone) {
    if (chunk) meterChunk(run, chunk);
    return drain(run).then(() => true);
  }
  if (!chunk) return finish(run, controller).then(() => true);
  const output = meterChunk(run, chunk);
  return run.relay.meter.terminalSeen()
    ? settle(run, "complete").then(() => forwardChunk(run, controller, output))
    : forwardChunk(run, controller, output);
}

function forwardChunk(run: Run, controller: Controller, output: Uint8Array | null): boolean {
  const sent = run.relay.ping ? pinged(run, output, run.relay.ping) : output;
  if (sent && !run.gone) controller.enqueue(sent);
  return sent !== null || run.gone;
}

/** A ping in place of nothing, where the client has waited. */
function pinged(run: Run, output: Uint8Array | null, ping: Uint8Array): Uint8Array | null {
  const nowMs = run.relay.clock.monotonicMs();
  if (output === null && nowMs - run.sentMs < PING_MS) return null;
  run.sentMs = nowMs;
  return output ?? ping;
}

function read(run: Run): Promise<AnswerPart> {
  run.reading = true;
  run.watched.client = false;
  run.watched.deadlineMs = run.relay.clock.monotonicMs() + run.relay.idleMs;
  return run.relay.read();
}

function chunkOf(run: Run, part: AnswerPart): Uint8Array | null {
  run.reading = false;
  run.watched.client = true;
  run.watched.deadlineMs = run.relay.clock.monotonicMs() + run.relay.patience.readerMs;
  run.ended = part.done;
  return part.done ? null : part.value;
}

function meterChunk(run: Run, chunk: Uint8Array): Uint8Array | null {
  const output = run.relay.meter.watch(chunk);
  if (!run.contentReported && run.relay.meter.contentSeen()) {
    run.contentReported = true;
    run.relay.onContent();
  }
  return output;
}

async function settle(run: Run, ending: Ending, cause: FailureCause | null = null): Promise<void> {
  if (run.settled) return;
  run.settled = true;
  await run.relay.settle(ending, run.relay.meter.reading(isComplete(run)), cause);
}

const isComplete = ({ relay, ended }: Run): boolean =>
  relay.meter.terminalSeen() ||
  (ended && (relay.endsWithBody || ((relay.framed || relay.noLastEvent === true) && relay.meter.allSeen())));

async function finish(run: Run, controller: Controller): Promise<void> {
  const { meter, watchdog, framed } = run.relay;
  const rest = meter.rest();
  const complete = isComplete(run);
  if (complete) await settle(run, "complete");
  else await settle(run, "upstream_broken", "cut");
  watchdog.release(run.watched);
  if (run.gone) return;
  if (rest) controller.enqueue(rest);
  if (complete || framed) controller.close();
  else controller.error(broken());
}

/** Reads on without a client, within bounds, to record the provider's own usage figures. */
async function drain(run: Run): Promise<void> {
  const { relay } = run;
  const allowed = !run.settled && relay.drains?.enter() === true;
  const until = relay.clock.monotonicMs() + DRAIN.msMax;
  let bytesLeft = allowed ? DRAIN.bytesMax : 0;
  try {
    while (bytesLeft > 0 && !relay.meter.terminalSeen() && relay.clock.monotonicMs() < until) {
      const chunk = chunkOf(run, await read(run));
      run.watched.deadlineMs = until;
      if (!chunk) break;
      bytesLeft -= chunk.byteLength;
      meterChunk(run, chunk);
    }
    relay.meter.rest();
  } catch {
    // The provider broke off as well: record what was seen, including an unfinished event.
    relay.meter.rest();
  } finally {
    run.reading = false;
    if (allowed) relay.drains?.leave();
    relay.watchdog.release(run.watched);
    await settle(run, "client_gone");
    relay.abort();
  }
}

/** A deadline passed: the provider was silent during a read, or the client does not read what is ready for it. */
function expire(run: Run): void {
  run.late = run.reading;
  if (!run.reading) {
    run.gone = true;
    run.controller?.error(new Error("the client stopped reading"));
    run.relay.closeConnection?.();
    void settle(run, "client_gone");
  }
  run.relay.abort();
}
