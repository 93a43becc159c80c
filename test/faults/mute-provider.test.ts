import { expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { rawAnswer, rawPost } from "#test/support/raw-client.ts";
import { scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { wiredGateway } from "#test/support/wired-gateway.ts";

test("a provider whose TLS handshake never ends is given up, and not before 5 s, and its fallback answers", async () => {
  const upstream = await scriptedUpstream((_, reply) => reply.json({ choices: [] }));
  // Takes connections and never says a word.
  const mute = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
  await gateway.admin("PUT", "/providers/mute", {
    kind: "openai-compatible",
    base_url: `https://127.0.0.1:${mute.port}/v1`,
    allow_private_network: true,
    enabled: true,
  });
  await gateway.admin("PUT", "/routes/chat", {
    surface: "chat",
    provider: "mute",
    model: "gpt-4o",
    fallbacks: [{ provider: "chat-vendor", model: "gpt-4o" }],
  });

  const session = newId();
  const startedMs = performance.now();
  const headers = { authorization: `Bearer ${gateway.secret}`, "x-session-id": session };
  const answer = await rawAnswer(
    gateway.url,
    rawPost("/v1/chat/completions", headers, '{"model":"chat","messages":[]}'),
  );
  const tookMs = performance.now() - startedMs;
  expect(answer.status).toBe(200);
  expect(tookMs).toBeGreaterThan(4900);
  const [row] = await gateway.records(session);
  expect(row).toMatchObject({ state: "ok", attempts: 2, provider: "chat-vendor" });

  await gateway.close();
  await upstream.close();
  mute.stop(true);
});
