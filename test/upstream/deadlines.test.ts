import { afterEach, describe, expect, test } from "bun:test";
import type { Call, Choice, Target } from "#gateway/call.ts";
import { Secret } from "#gateway/directory.ts";
import { scanJson } from "#gateway/http/scan.ts";
import { OFF } from "#gateway/telemetry/open-telemetry.ts";
import { openDeployments } from "#gateway/upstream/deployments.ts";
import { drainPool } from "#gateway/upstream/drain.ts";
import { forward } from "#gateway/upstream/forward.ts";
import { learnedWires } from "#gateway/upstream/learned-wires.ts";
import { type Send, type Sending, sentBody } from "#gateway/upstream/send.ts";
import { startWatchdog } from "#gateway/upstream/watchdog.ts";
import { readUpTo } from "#gateway/upstream/whole-body.ts";
import { newId } from "#shared/ids.ts";
import { movableClock } from "#test/stores/movable-clock.ts";
import { keptLog } from "#test/support/embedded.ts";

const clock = movableClock();
const log = keptLog();
let watchdog = startWatchdog(clock, 1);
afterEach(() => {
  watchdog.close();
  watchdog = startWatchdog(clock, 1);
});

const target = (model: string): Target => ({
  provider: {
    name: model,
    kind: "openai",
    baseUrl: "https://provider.example/v1",
    credential: new Secret("credential"),
    headers: {},
    models: null,
    responses: true,
    trustedForPassthrough: false,
    subscriptionPassthrough: false,
    subscriptionModels: [],
    allowPrivateNetwork: false,
    defaultFor: [],
    streamOptions: true,
    firstByteMs: 600_000,
    idleMs: 300_000,
    enabled: true,
  },
  model,
  wire: "chat",
});
const choice: Choice = {
  route: null,
  routeName: "two",
  source: "model",
  targets: [target("first"), target("second")],
  channel: "api",
};
const call = (): Call => ({
  id: newId(),
  surface: "chat.completions",
  key: {
    id: newId(),
    name: "key",
    owner: null,
    teams: null,
    costCenter: null,
    sharedBudgets: [],
    scopes: {},
    limits: null,
    expiresAtMs: null,
  },
  passthroughCredential: null,
  headers: new Headers(),
  query: "",
  body: scanJson(new TextEncoder().encode('{"model":"two","messages":[]}')),
  model: "two",
  routeMember: null,
  streamed: false,
  signal: new AbortController().signal,
  admittedAt: clock.now(),
  admittedMonotonicMs: clock.monotonicMs(),
});

/** A provider that never comes to a point: `until` says how far it gets. */
const hanging =
  (until: "connecting" | "answering", seen: Sending[]): Send =>
  (sending) => {
    seen.push(sending);
    if (sending.target.model === "second") return Promise.resolve(Response.json({}));
    if (until === "answering") sending.onSent();
    return new Promise((_, reject) => {
      sending.signal.addEventListener("abort", () => reject(sending.signal.reason));
    });
  };

const deps = (send: Send) => ({
  clock,
  watchdog,
  log,
  send,
  drains: drainPool(),
  deployments: openDeployments(clock),
  learnedWires: learnedWires(clock),
  telemetry: OFF,
});

/** Resolves once the watchdog has looked at everything that it watches. */
const looked = () => new Promise<void>((expire) => watchdog.watch({ deadlineMs: 0, expire }));

test("a call that the gateway fails to write is its own failure, for which no other target is asked", async () => {
  const unwritten: Send = async () => {
    throw new TypeError("a value has no text");
  };
  expect(await forward(deps(unwritten), choice, call())).toMatchObject({
    kind: "failed",
    type: "internal",
    reason: null,
    attempts: 1,
    sent: false,
  });
});

test("a credential that no header can carry, stored before these were refused, is a provider that cannot be asked", async () => {
  const headers = { authorization: "Bearer \u200b" };
  const send: Send = async ({ target }) =>
    target.model === "first" ? await fetch("http://127.0.0.1:1/", { headers }) : Response.json({});
  expect(await forward(deps(send), choice, call())).toMatchObject({ kind: "answer", attempts: 2 });
  const alone: Choice = { ...choice, targets: [target("first")] };
  expect(await forward(deps(send), alone, call())).toMatchObject({ type: "provider_unconfigured" });
});

describe("a provider that", () => {
  test("cannot be connected to within 5 s was not asked, so its fallback is", async () => {
    const seen: Sending[] = [];
    const attempt = forward(deps(hanging("connecting", seen)), choice, call());
    clock.advance(4900);
    await looked();
    expect(seen.length).toBe(1);
    clock.advance(200);
    expect(await attempt).toMatchObject({ kind: "answer", attempts: 2 });
  });

  test("is connected to has 600 s to begin its answer, and then the fallback is asked", async () => {
    const seen: Sending[] = [];
    const attempt = forward(deps(hanging("answering", seen)), choice, call());
    clock.advance(599_000);
    await looked();
    clock.advance(2000);
    expect(await attempt).toMatchObject({ kind: "answer", attempts: 2, maybeBilled: true });
    expect(seen.length).toBe(2);
  });

  test("hangs with an image is given up, because images are never sent twice", async () => {
    const seen: Sending[] = [];
    const image: Call = { ...call(), surface: "images.generations" };
    const attempt = forward(deps(hanging("answering", seen)), choice, image);
    clock.advance(601_000);
    expect(await attempt).toMatchObject({
      kind: "failed",
      type: "upstream_timeout",
      attempts: 1,
      sent: true,
    });
    expect(seen.length).toBe(1);
  });

  test("begins a plain answer and then is silent for 300 s is given up", async () => {
    const abort = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(3));
        abort.signal.addEventListener("abort", () => controller.error(abort.signal.reason));
      },
    });
    const answer = new Response(body);
    const answered = { answer, headers: answer.headers, target: target("first"), abort: () => abort.abort() };
    const bytes = readUpTo({ clock, watchdog }, answered, { bytesMax: 100 }).catch(() => null);
    await looked();
    clock.advance(299_000);
    await looked();
    expect(abort.signal.aborted).toBe(false);
    clock.advance(2000);
    expect(await bytes).toBeNull();
  });
});

describe("a body to be sent", () => {
  test("is not asked for while nobody is connected", async () => {
    // Takes connections and never says a word of TLS.
    const hello = Promise.withResolvers<void>();
    const data = () => hello.resolve();
    const mute = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data } });
    let asked = false;
    const leave = new AbortController();
    const sent = fetch(`https://127.0.0.1:${mute.port}/`, {
      method: "POST",
      body: sentBody(new Uint8Array(8), () => {
        asked = true;
      }),
      signal: leave.signal,
    }).catch(() => null);
    await hello.promise;
    leave.abort();
    expect(await sent).toBeNull();
    expect(asked).toBe(false);
    mute.stop(true);
  });

  test.each([0, 1, 70_000, 3_000_000])("arrives whole and framed by its length (%d bytes)", async (size) => {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) =>
        Response.json([
          request.headers.get("content-length"),
          request.headers.get("transfer-encoding"),
          Bun.hash(await request.bytes()).toString(),
        ]),
    });
    const bytes = crypto.getRandomValues(new Uint8Array(Math.min(size, 65_536)));
    const body = Buffer.concat(Array(Math.ceil(size / 65_536)).fill(bytes)).subarray(0, size);
    let asked = 0;
    const answer = await fetch(server.url, {
      method: "POST",
      headers: { "content-length": String(size) },
      body: sentBody(body, () => {
        asked += 1;
      }),
    });
    expect(await answer.json()).toEqual([String(size), null, Bun.hash(body).toString()]);
    expect(asked).toBe(1);
    await server.stop(true);
  });
});
