import { expect, test } from "bun:test";
import { GatewayError } from "#gateway/errors.ts";
import { openRequestBody } from "#gateway/upstream/request-body.ts";
import type { Watched } from "#gateway/upstream/watchdog.ts";

function scene() {
  let nowMs = 0;
  const watched = new Set<Watched>();
  return {
    deps: {
      patience: { readerMs: 120_000, bodyMs: 60_000 },
      clock: { now: () => new Date(nowMs), monotonicMs: () => nowMs },
      watchdog: {
        watch: (it: Watched) => void watched.add(it),
        release: (it: Watched) => void watched.delete(it),
        hurry: () => undefined,
        close: () => undefined,
      },
    },
    pass(ms: number) {
      nowMs += ms;
      for (const it of [...watched]) if (it.deadlineMs <= nowMs) it.expire();
    },
  };
}

const post = (body: ReadableStream<Uint8Array>, headers: Record<string, string> = {}) =>
  new Request("http://gateway.invalid", { method: "POST", body, headers });

async function refusal(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.catch((thrown) => thrown);
  if (!(error instanceof GatewayError)) throw new Error("it was not refused");
  return error;
}

test("a client that falls silent is given up after a minute in all, however it drips", async () => {
  const { deps, pass } = scene();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(it) {
      controller = it;
    },
  });
  const arrival = openRequestBody(post(body), 1000, deps);
  for (let n = 0; n < 5; n++) {
    const next = arrival.next();
    pass(11_000);
    controller?.enqueue(new Uint8Array(1));
    expect(await next).toHaveLength(1);
  }
  const last = arrival.next();
  pass(11_000);
  expect((await refusal(last)).type).toBe("request_timeout");
});

test("bytes buy time: a large body may take as long as its size", async () => {
  const { deps, pass } = scene();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(it) {
      controller = it;
    },
  });
  const arrival = openRequestBody(post(body), 1e9, deps);
  for (let n = 0; n < 10; n++) {
    const next = arrival.next();
    pass(50_000);
    controller?.enqueue(new Uint8Array(1024 * 1024));
    expect(await next).toHaveLength(1024 * 1024);
  }
});

test("more bytes than allowed, or other than declared, are refused", async () => {
  const { deps } = scene();
  const of = (size: number) =>
    new ReadableStream<Uint8Array>({
      start(it) {
        it.enqueue(new Uint8Array(size));
        it.close();
      },
    });
  expect((await refusal(openRequestBody(post(of(11)), 10, deps).next())).type).toBe("too_large");
  expect(() => openRequestBody(post(of(1), { "content-length": "11" }), 10, deps)).toThrow(GatewayError);
  const short = openRequestBody(post(of(5), { "content-length": "9" }), 10, deps);
  await short.next();
  expect((await refusal(short.next())).message).toContain("ended early");
});
