import type { Clock } from "#shared/clock.ts";
import type { Meter } from "../metering/meter.ts";
import type { Reading } from "../reading.ts";
import { DRAIN, type DrainPool } from "./drain.ts";
import { GAP_MS, type Watchdog, type Watched } from "./watchdog.ts";

/** How long a client may leave a chunk unread. */
const READER_STALL_MS = 120_000;

export type Ending = "complete" | "client_gone" | "upstream_broken";

export type StreamRelay = {
  body: ReadableStream<Uint8Array>;
  /** The answer says by itself where it ends (length or chunks), so an end without a terminal event is still an end. */
  framed: boolean;
  /** It has no terminal event: it is complete when it ends. */
  endsWithBody: boolean;
  meter: Meter;
  clock: Clock;
  watchdog: Watchdog;
  /** Null: an answer whose client has left is given up at once. */
  drains: DrainPool | null;
  /** Gives the provider's answer up. */
  abort(): void;
  /** Called once, at the first chunk with content. */
  onContent(): void;
  /** Called once; durable when it resolves: the end never reaches the client before the record is safe. */
  settle(ending: Ending, reading: Reading): Promise<void>;
};

type Part = Bun.ReadableStreamDefaultReadResult<Uint8Array>;
type Controller = ReadableStreamDefaultController<Uint8Array>;

/** One stream on its way. `reading`: a read of the provider is under way; `gone`: nobody listens any more. */
type Run = {
  relay: StreamRelay;
  reader: ReadableStreamDefaultReader<Uint8Array>;
  watched: Watched;
  controller: Controller | null;
  reading: boolean;
  gone: boolean;
  /** The provider's answer ended as a body does, not by breaking off. */
  ended: boolean;
  settled: boolean;
  contentTold: boolean;
};

const broken = () => new Error("the provider's answer broke off");

/**
 * Passes a stream on as it is read, watched by the meter. Pulled by the client, so a slow one slows the provider and
 * costs no memory. Settles exactly once, whatever ends it; the chunk that holds the terminal event waits for that.
 */
export function relayStream(relay: StreamRelay): ReadableStream<Uint8Array> {
  const run: Run = {
    relay,
    reader: relay.body.getReader(),
    watched: { deadlineMs: relay.clock.monotonicMs() + READER_STALL_MS, expire: () => expire(run) },
    controller: null,
    reading: false,
    gone: false,
    ended: false,
    settled: false,
    contentTold: false,
  };
  relay.watchdog.watch(run.watched);
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        run.controller = controller;
      },
      pull: (controller) => pull(run, controller),
      cancel: () => leave(run),
    },
    // No chunk is read before the client asks for it.
    { highWaterMark: 0 },
  );
}

/** The client left. A read under way comes back to `pull`, which then drains; a silent provider must not hold it up. */
function leave(run: Run): void {
  const { drains, clock, abort } = run.relay;
  run.gone = true;
  if (!run.reading) void drain(run);
  else if (!drains) abort();
  else run.watched.deadlineMs = Math.min(run.watched.deadlineMs, clock.monotonicMs() + DRAIN.msMax);
}

async function pull(run: Run, controller: Controller): Promise<void> {
  try {
    // A pull must enqueue something or end the stream: one that returns with nothing is not called again.
    for (let passed = false; !passed; ) {
      // Each further `async` between here and the provider would cost every chunk its promises.
      const stepped = step(run, controller, arrived(run, await read(run)));
      passed = typeof stepped === "boolean" ? stepped : await stepped;
    }
  } catch {
    run.reading = false;
    run.relay.watchdog.release(run.watched);
    run.relay.meter.rest();
    await settle(run, run.gone ? "client_gone" : "upstream_broken");
    if (!run.gone) controller.error(broken());
  }
}

/** One chunk of the provider's, null at its end; true once the client got something, or nothing more will come. */
function step(run: Run, controller: Controller, chunk: Uint8Array | null): boolean | Promise<boolean> {
  if (run.gone) {
    if (chunk) look(run, chunk);
    return drain(run).then(() => true);
  }
  if (!chunk) return finish(run, controller).then(() => true);
  const passed = look(run, chunk);
  return run.relay.meter.terminalSeen()
    ? settle(run, "complete").then(() => hand(run, controller, passed))
    : hand(run, controller, passed);
}

function hand(run: Run, controller: Controller, passed: Uint8Array | null): boolean {
  if (passed && !run.gone) controller.enqueue(passed);
  return passed !== null || run.gone;
}

function read(run: Run): Promise<Part> {
  run.reading = true;
  run.watched.deadlineMs = run.relay.clock.monotonicMs() + GAP_MS;
  return run.reader.read();
}

function arrived(run: Run, part: Part): Uint8Array | null {
  run.reading = false;
  run.watched.deadlineMs = run.relay.clock.monotonicMs() + READER_STALL_MS;
  run.ended = part.done;
  return part.done ? null : part.value;
}

function look(run: Run, chunk: Uint8Array): Uint8Array | null {
  const passed = run.relay.meter.watch(chunk);
  if (!run.contentTold && run.relay.meter.contentSeen()) {
    run.contentTold = true;
    run.relay.onContent();
  }
  return passed;
}

async function settle(run: Run, ending: Ending): Promise<void> {
  if (run.settled) return;
  run.settled = true;
  await run.relay.settle(ending, run.relay.meter.reading(isComplete(run)));
}

const isComplete = ({ relay, ended }: Run): boolean =>
  relay.meter.terminalSeen() || (ended && relay.endsWithBody);

async function finish(run: Run, controller: Controller): Promise<void> {
  const { meter, watchdog, framed } = run.relay;
  const rest = meter.rest();
  const complete = isComplete(run);
  await settle(run, complete ? "complete" : "upstream_broken");
  watchdog.release(run.watched);
  if (run.gone) return;
  if (rest) controller.enqueue(rest);
  if (complete || framed) controller.close();
  else controller.error(broken());
}

/** Reads on without a client, within bounds, so that the provider's own figure is recorded. */
async function drain(run: Run): Promise<void> {
  const { relay } = run;
  const allowed = !run.settled && relay.drains?.enter() === true;
  const until = relay.clock.monotonicMs() + DRAIN.msMax;
  let bytesLeft = allowed ? DRAIN.bytesMax : 0;
  try {
    while (bytesLeft > 0 && !relay.meter.terminalSeen() && relay.clock.monotonicMs() < until) {
      const chunk = arrived(run, await read(run));
      run.watched.deadlineMs = until;
      if (!chunk) break;
      bytesLeft -= chunk.byteLength;
      look(run, chunk);
    }
    relay.meter.rest();
  } catch {
    // The provider broke off as well: what was seen is what is recorded, the event that it broke off in included.
    relay.meter.rest();
  } finally {
    run.reading = false;
    if (allowed) relay.drains?.leave();
    relay.watchdog.release(run.watched);
    await settle(run, "client_gone");
    relay.abort();
  }
}

/** A deadline passed: the provider is silent while we read it, or the client does not read what we hold for it. */
function expire(run: Run): void {
  if (!run.reading) {
    run.gone = true;
    run.controller?.error(new Error("the client stopped reading"));
    void settle(run, "client_gone");
  }
  run.relay.abort();
}
