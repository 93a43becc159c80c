import { beforeAll, describe, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type RawConnection, rawConnection, rawPost } from "#test/support/raw-client.ts";
import { type Reply, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

const MEBIBYTE = 1024 ** 2;
const FORM = "multipart/form-data; boundary=b";
const FORM_HEAD = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\ngpt-4o\r\n';

type Shape = (body: { error?: object; type?: string; jsonrpc?: string; code?: number }) => unknown;
const openai: Shape = ({ error }) => expect(error).toMatchObject({ code: "request_timeout" });
const anthropic: Shape = ({ type, error }) => {
  expect([type, error]).toMatchObject(["error", { type: "timeout_error" }]);
};
const google: Shape = ({ error }) => expect(error).toMatchObject({ code: 408, status: "DEADLINE_EXCEEDED" });
const rpc: Shape = ({ jsonrpc }) => expect(jsonrpc).toBe("2.0");
const otlp: Shape = ({ code }) => expect(code).toBe(4);

/** Addresses of every kind, and the shape of their errors. */
const ADDRESSES: readonly [path: string, shape: Shape, headers?: Record<string, string>][] = [
  ["/v1/chat/completions", openai],
  ["/v1/messages", anthropic],
  ["/v1beta/models/gemini-2.5-flash:generateContent", google],
  ["/v1/audio/transcriptions", openai, { "content-type": FORM }],
  ["/v1/files", openai, { "content-type": FORM }],
  ["/v1/batches", openai],
  ["/v1/classify", openai],
  ["/otel/v1/metrics", otlp],
  ["/hooks/v1/events", openai],
  ["/mcp", rpc],
  ["/v1/reports/query", openai, { authorization: `Bearer ${ADMIN_KEY}` }],
  ["/admin/v1/routes", openai, { authorization: `Bearer ${ADMIN_KEY}` }],
];

/** Sends the head of a request and the beginning of its body, which then comes byte by byte. */
function dripping(
  gateway: Pick<WiredGateway, "url" | "secret">,
  path: string,
  headers: Record<string, string>,
): RawConnection {
  const credentials = { authorization: `Bearer ${gateway.secret}`, "x-gateway-key": gateway.secret };
  const begun = headers["content-type"] === FORM ? FORM_HEAD : '{"model":"chat","n":"';
  const connection = rawConnection(gateway.url, rawPost(path, { ...credentials, ...headers }, begun));
  const drops = setInterval(async () => {
    // What has arrived is read first: a byte for a closed connection resets it, and a reset discards what is unread.
    await Bun.sleep(1);
    if (!connection.socket.destroyed) connection.socket.write("x");
  }, 100);
  connection.socket.on("close", () => clearInterval(drops));
  return connection;
}

describe("a body that comes byte by byte is 408 in the surface's shape, and its connection is closed", () => {
  let gateway: WiredGateway;

  beforeAll(async () => {
    const upstream = await scriptedUpstream(() => undefined);
    gateway = await wiredGateway(
      { chat: `${upstream.url}/v1`, messages: upstream.url },
      { BODY_WAIT_SECONDS: "1" },
    );
    await gateway.admin("PATCH", "/settings", { hooks: true, metrics_receiver: true });
  });

  const refused = async (connection: RawConnection, shape: Shape) => {
    const { socket } = connection;
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await until(() => socket.readableEnded || socket.destroyed);
    const answer = await connection.answer();
    expect([answer.status, answer.whole]).toEqual([408, true]);
    shape(JSON.parse(answer.body.toString()));
    await closed;
  };

  test.each(ADDRESSES)("%s", async (path, shape, headers = {}) => {
    await refused(dripping(gateway, path, { "content-length": "9999", ...headers }), shape);
  });

  test("a large one", async () => {
    const large = { "content-length": String(20 * MEBIBYTE) };
    await refused(dripping(gateway, "/v1/chat/completions", large), openai);
  });
});

test("at a stop, half bodies and callers that do not read are cut off, and running calls finish", async () => {
  const replies: Reply[] = [];
  const upstream = await scriptedUpstream((_request, reply) => void replies.push(reply));
  const env = { DRAIN_SECONDS_MAX: "300" };
  const gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url }, env);
  const ask = (session: string, body: object) => {
    const headers = { authorization: `Bearer ${gateway.secret}`, "x-session-id": session };
    const text = JSON.stringify({ model: "chat", ...body });
    return rawConnection(gateway.url, rawPost("/v1/chat/completions", headers, text));
  };

  const half = dripping(gateway, "/v1/chat/completions", { "content-length": "9999" });
  // Answered at once, and then its body goes on.
  const refused = dripping(gateway, "/v1/chat/completions", {
    authorization: "Bearer nobody",
    "x-gateway-key": "nobody",
    "content-length": "9999",
  });
  await until(() => refused.bytes().includes("401"));

  const unread = newId();
  const deaf = ask(unread, {});
  deaf.socket.pause();
  await until(() => replies.length === 1);
  replies[0]?.head("application/json");
  replies[0]?.chunk(`{"choices":[{"message":{"content":"${"x".repeat(32 * MEBIBYTE)}`);

  const running = newId();
  const finishing = ask(running, { stream: true });
  await until(() => replies.length === 2);
  replies[1]?.head("text/event-stream");
  replies[1]?.chunk('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
  await until(() => finishing.bytes().includes("delta"));

  const stopped = gateway.stop();
  expect(await gateway.records(unread)).toMatchObject([{ state: "client_gone" }]);
  const timedOut = await half.answer();
  expect(timedOut.status).toBe(408);
  // The running call is in no hurry.
  replies[1]?.chunk("data: [DONE]\n\n");
  replies[1]?.end();
  expect(await finishing.answer()).toMatchObject({ status: 200, whole: true });
  await stopped;
  expect(await gateway.records(running)).toMatchObject([{ state: "ok" }]);
  deaf.socket.destroy();
  // Less than the 255 s after which Bun would close the idle connection of the client that does not read.
}, 240_000);
