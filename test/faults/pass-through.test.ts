import { expect, test } from "bun:test";
import { connect } from "#drizzle/database.ts";
import { newId } from "#shared/ids.ts";
import { atEnd } from "#test/support/at-end.ts";
import { scratch } from "#test/support/embedded.ts";
import { startGateway } from "#test/support/gateway-process.ts";
import { localGateway } from "#test/support/local-gateway.ts";
import { scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";

// A gateway killed with a call of a vendor's own address under way, and with a response in the background begun.

test("kill -9 leaves one record of each: one interrupted, one that is settled after the restart", async () => {
  const hung = Promise.withResolvers<void>();
  const response = { id: "resp_1", object: "response", model: "gpt-4o", output: [], usage: null };
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const vendor = await scriptedUpstream(({ method, path }, reply) => {
    if (path === "/v1/videos") return hung.resolve();
    reply.json(
      method === "POST" ? { ...response, status: "queued" } : { ...response, status: "completed", usage },
    );
  });
  const place = scratch();
  const env = { BATCH_CHECK_SECONDS: "1" };
  const first = await startGateway({ dataDir: place.path, env });
  const sql = connect(first.databaseUrl, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  atEnd(() => sql.end({ timeout: 1 }));
  await first.admin("PUT", "/providers/vendor", {
    ...{ kind: "openai", base_url: `${vendor.url}/v1`, credential: "vendor-credential", models: ["gpt-*"] },
    ...{ allow_private_network: true, pass_through: { paths: ["/v1/videos"] } },
  });
  const { secret } = await first.admin<{ secret: string }>("POST", "/keys", {
    name: "all",
    scopes: { providers: ["vendor"] },
  });
  const session = newId();
  const post = (path: string, body: object) =>
    fetch(first.url + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        "x-session-id": session,
      },
      body: JSON.stringify(body),
    });
  const begun = await post("/v1/responses", { model: "gpt-4o", input: "Research.", background: true });
  expect(begun.status).toBe(200);
  const cut = post("/providers/vendor/v1/videos", { model: "sora-2", prompt: "A cat." }).catch(() => null);
  await hung.promise;
  await first.kill();
  await cut;
  await localGateway({ dataDir: place.path, databaseUrl: first.databaseUrl, env });
  const records = () =>
    sql`select surface, state, cost_usd is null as unknown, input_tokens from requests
      where session = ${session} order by surface`;
  await until(
    async () =>
      (await records()).filter(({ unknown, state }) => !unknown || state === "interrupted").length === 2,
  );
  expect([...(await records())]).toEqual([
    { surface: "pass_through", state: "interrupted", unknown: true, input_tokens: null },
    { surface: "responses", state: "ok", unknown: false, input_tokens: 10 },
  ]);
});
