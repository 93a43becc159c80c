import { expect, test } from "bun:test";
import { scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { wiredGateway } from "#test/support/wired-gateway.ts";

test("a translated stream has its head at once, although its provider still thinks", async () => {
  const thought = Promise.withResolvers<void>();
  const upstream = await scriptedUpstream(async (_, reply) => {
    reply.head("text/event-stream", 200, {});
    reply.chunk('event: ping\ndata: {"type":"ping"}\n\n');
    await thought.promise;
    reply.chunk(
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy."}}\n\n',
    );
    return reply.end();
  });
  const gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.secret}` },
    body: JSON.stringify({ model: "claude", stream: true, messages: [{ role: "user", content: "Hi" }] }),
  });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([
    200,
    "text/event-stream; charset=utf-8",
  ]);
  thought.resolve();
  expect(await answer.text()).toMatch(/^\ndata: .*Busy/);
});
