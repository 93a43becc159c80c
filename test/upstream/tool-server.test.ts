import { afterAll, expect, test } from "bun:test";
import { Secret, type ToolServer } from "#gateway/directory.ts";
import { createOutboundFetch } from "#gateway/upstream/outbound-fetch.ts";
import { addressGuard } from "#gateway/upstream/ssrf.ts";
import { createToolServerFetch } from "#gateway/upstream/tool-server.ts";
import { startWatchdog } from "#gateway/upstream/watchdog.ts";
import { systemClock } from "#shared/clock.ts";
import { freePort } from "#test/support/ports.ts";

const MEBIBYTE = new Uint8Array(1024 * 1024);
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch({ url, headers }) {
    switch (new URL(url).pathname) {
      case "/redirect":
        return Response.redirect("http://127.0.0.1:1/elsewhere");
      case "/refuse":
        return new Response("no", { status: 403 });
      case "/flood":
        return new Response(
          new ReadableStream({ pull: (controller) => controller.enqueue(MEBIBYTE.slice()) }),
        );
      default:
        return Response.json(headers.toJSON());
    }
  },
});
const watchdog = startWatchdog(systemClock);
afterAll(async () => {
  watchdog.close();
  await upstream.stop(true);
});

const ask = createToolServerFetch({
  reach: createOutboundFetch(addressGuard(systemClock)),
  clock: systemClock,
  watchdog,
});
const server = (path: string, more: Partial<ToolServer> = {}): ToolServer => ({
  name: "t",
  url: `http://127.0.0.1:${upstream.port}${path}`,
  credential: new Secret("s3cret"),
  credentialHeader: null,
  allow: null,
  deny: [],
  pricePerCall: null,
  prices: {},
  allowPrivateNetwork: true,
  ...more,
});
const asked = (to: ToolServer) => ask(to, { method: "POST", headers: new Headers(), body: "{}" });

test("the server gets its own credential, in the header that is set", async () => {
  expect(await (await asked(server("/"))).json()).toMatchObject({ authorization: "Bearer s3cret" });
  const inOther = await (await asked(server("/", { credentialHeader: "x-key" }))).json();
  expect(inOther).toMatchObject({ "x-key": "s3cret" });
  expect(inOther).not.toHaveProperty("authorization");
});

test.each([
  ["a redirect", server("/redirect"), "provider_unconfigured"],
  ["a refusal of our credential", server("/refuse"), "provider_unconfigured"],
  [
    "a private address that is not allowed",
    server("/", { allowPrivateNetwork: false }),
    "upstream_unreachable",
  ],
  [
    "a port where nobody listens",
    server("/", { url: `http://127.0.0.1:${freePort()}` }),
    "upstream_unreachable",
  ],
])("%s is a failure", async (_, to, type) => {
  await expect(asked(to)).rejects.toMatchObject({ type });
});

test("an answer is cut off at 32 MiB, and its connection with it", async () => {
  const answer = await asked(server("/flood"));
  let size = 0;
  const read = async () => {
    for await (const chunk of answer.body ?? []) size += chunk.byteLength;
  };
  await expect(read()).rejects.toMatchObject({ type: "upstream_broken" });
  expect(size).toBeLessThanOrEqual(32 * 1024 * 1024);
});
