import { expect, test } from "bun:test";
import type { Provider } from "#gateway/directory.ts";
import { failureOf } from "#gateway/upstream/failures.ts";
import { createOutboundFetch } from "#gateway/upstream/outbound-fetch.ts";
import { createSender, type Sending } from "#gateway/upstream/send.ts";
import { addressGuard } from "#gateway/upstream/ssrf.ts";
import { systemClock } from "#shared/clock.ts";

const PROVIDER: Provider = {
  name: "vendor",
  kind: "openai-compatible",
  baseUrl: "http://127.0.0.1",
  credential: null,
  headers: {},
  models: null,
  responses: true,
  trustedForPassthrough: false,
  subscriptionPassthrough: false,
  subscriptionModels: [],
  allowPrivateNetwork: true,
  defaultFor: [],
  streamOptions: true,
  firstByteMs: 600_000,
  idleMs: 300_000,
  enabled: true,
};

function sendingTo(url: string): { sending: Sending; asked: () => number } {
  let asked = 0;
  const sending: Sending = {
    target: { provider: PROVIDER, model: "m", wire: "chat" },
    surface: "chat.completions",
    url,
    headers: { "content-type": "application/json" },
    streamed: false,
    body: new TextEncoder().encode('{"model":"m"}'),
    signal: new AbortController().signal,
    onSent: () => {
      asked += 1;
    },
  };
  return { sending, asked: () => asked };
}

test("a provider that dies after it answered is known not to have got the next call", async () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (it: Request) => new Response(await it.text()),
  });
  const send = createSender(createOutboundFetch(addressGuard(systemClock)), systemClock);
  const url = `http://127.0.0.1:${server.port}/v1/chat/completions`;
  for (const _ of [1, 2, 3]) {
    const { sending, asked } = sendingTo(url);
    expect(await (await send(sending)).text()).toBe('{"model":"m"}');
    expect(asked()).toBe(1);
  }
  await server.stop(true);
  // A pooled connection may still say that it was cut; the one after it is refused.
  await send(sendingTo(url).sending).catch(() => undefined);
  const failure = await send(sendingTo(url).sending).then(String, (error: unknown) => error);
  expect(failureOf(failure, true)).toBe("upstream_unreachable");
});
