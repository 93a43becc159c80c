import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { rawAnswer, rawPost } from "#test/support/raw-client.ts";
import {
  type Reply,
  type ScriptedUpstream,
  type SeenRequest,
  scriptedUpstream,
} from "#test/support/scripted-upstream.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

let upstream: ScriptedUpstream;
let gateway: WiredGateway;
/** What each model does; all others answer. */
const plays = new Map<string, (reply: Reply, request: SeenRequest) => void>();

const ANSWER = { choices: [], usage: { prompt_tokens: 14, completion_tokens: 33, total_tokens: 47 } };
const CALLS = 12;

beforeAll(async () => {
  upstream = await scriptedUpstream((request, reply) => {
    const play = plays.get(JSON.parse(request.body).model);
    if (play) play(reply, request);
    else reply.json(ANSWER);
  });
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
});

afterAll(async () => {
  plays.clear();
});

const vendor = (model: string, more: object = {}) => ({ provider: "chat-vendor", model, ...more });
const route = (name: string, facts: object) =>
  gateway.admin("PUT", `/routes/${name}`, { surface: "chat", ...facts });

async function call(name: string, session = newId()) {
  const body = JSON.stringify({ model: name, messages: [{ role: "user", content: session }] });
  const headers = { authorization: `Bearer ${gateway.secret}`, "x-session-id": session };
  const answer = await rawAnswer(gateway.url, rawPost("/v1/chat/completions", headers, body));
  const asked = upstream.seen.filter((request) => request.body.includes(session));
  return { answer, session, asked: asked.map((request) => JSON.parse(request.body).model) };
}

async function calls(name: string, sessions: readonly string[]) {
  const made = [];
  for (const session of sessions) made.push(await call(name, session));
  return made;
}
const fresh = () => Array.from({ length: CALLS }, newId);

type Health = { health: { model: string; state: string; failures: number; cause: string; until: string }[] };
const healthOf = async (provider: string) =>
  (await gateway.admin<Health>("GET", `/providers/${provider}`)).health;

const metrics = async () =>
  (await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })).text();

describe("a failing first choice", () => {
  test("that cannot be connected to costs one call its wait, and not each call", async () => {
    await gateway.admin("PUT", "/providers/gone", {
      kind: "openai-compatible",
      base_url: "http://nobody.invalid/v1",
      allow_private_network: true,
    });
    await route("gone-first", { provider: "gone", model: "m", fallbacks: [vendor("fine")] });
    const made = await calls("gone-first", fresh());
    expect(made.map(({ answer }) => answer.status)).toEqual(made.map(() => 200));
    const attempts = await Promise.all(
      made.map(async ({ session }) => (await gateway.records(session))[0]?.attempts),
    );
    // On a slow machine a pause may end meanwhile, and one further call tries the target.
    const tries = attempts.filter((count) => count === 2).length;
    expect(attempts[0]).toBe(2);
    expect(tries).toBeLessThan(CALLS / 2);
    expect(await healthOf("gone")).toMatchObject([{ model: "m", failures: tries, cause: "dns" }]);
    expect(await metrics()).toContain(
      `tallygate_provider_failures_total{provider="gone",cause="dns"} ${tries}`,
    );
  });

  test("that says when to come back is left alone until then", async () => {
    plays.set("busy", (reply) => reply.json({ error: {} }, 429, { "retry-after": "300" }));
    await route("busy-first", { ...vendor("busy"), fallbacks: [vendor("fine")] });
    const made = await calls("busy-first", fresh());
    expect(made.map(({ asked }) => asked)).toEqual([["busy", "fine"], ...made.slice(1).map(() => ["fine"])]);
  });

  test("is asked all the same if no other target answers", async () => {
    plays.set("busy-again", (reply) => reply.json({ error: {} }, 429, { "retry-after": "300" }));
    plays.set("down", (reply) => reply.json({ error: {} }, 503));
    await route("all-failing", { ...vendor("busy-again"), fallbacks: [vendor("down")] });
    await call("all-failing");
    const { answer, asked } = await call("all-failing");
    expect(asked).toEqual(["down", "busy-again"]);
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toEqual(["300"]);
  });
});

test("a target that hangs is given up after the route's own limit, and the cost is then a lower bound", async () => {
  plays.set("hanging", () => undefined);
  await route("hanging-first", {
    ...vendor("hanging"),
    fallbacks: [vendor("gpt-4o")],
    first_byte_seconds: 1,
  });
  const { answer, session, asked } = await call("hanging-first");
  expect(answer.status).toBe(200);
  expect(asked).toEqual(["hanging", "gpt-4o"]);
  const [row] = await gateway.records(session);
  expect(row).toMatchObject({ state: "ok", attempts: 2, model: "gpt-4o", partial: true, unpriced: false });
  expect((await call("hanging-first")).asked).toEqual(["gpt-4o"]);
});

describe("several deployments of one model", () => {
  test("share sessions, and each session stays with one of them", async () => {
    await route("shared", { ...vendor("one"), weight: 1, fallbacks: [vendor("two", { weight: 1 })] });
    const sessions = Array.from({ length: 40 }, newId);
    const first = (await calls("shared", sessions)).map(({ asked }) => asked[0]);
    expect(new Set(first)).toEqual(new Set(["one", "two"]));
    const again = (await calls("shared", sessions)).map(({ asked }) => asked.at(-1));
    expect(again).toEqual(first);
  });

  test("of one provider with several credentials share calls, and one at its limit is left to the others", async () => {
    const credentials = ["credential-a", "credential-b"];
    await gateway.admin("PUT", "/providers/pooled", {
      kind: "openai",
      base_url: `${upstream.url}/v1`,
      allow_private_network: true,
      credentials,
    });
    await route("pooled", { provider: "pooled", model: "pooled-model" });
    const used: string[] = [];
    plays.set("pooled-model", (reply, request) => {
      const credential = request.headers["authorization"]?.replace("Bearer ", "") ?? "";
      used.push(credential);
      if (used.length > 40 && credential === "credential-a") {
        reply.json({ error: {} }, 429, { "retry-after": "300" });
      } else reply.json(ANSWER);
    });
    await calls("pooled", Array.from({ length: 40 }, newId));
    expect(new Set(used)).toEqual(new Set(credentials));
    used.push("");
    const made = await calls("pooled", Array.from({ length: 20 }, newId));
    expect(made.map(({ answer }) => answer.status)).toEqual(made.map(() => 200));
    expect(used.slice(41).filter((credential) => credential === "credential-a").length).toBeLessThanOrEqual(
      1,
    );
    const view = await gateway.admin<{ credential_count: number }>("GET", "/providers/pooled");
    expect(view.credential_count).toBe(2);
    expect(JSON.stringify(view)).not.toContain("credential-a");
  });
});
