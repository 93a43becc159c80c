import { beforeAll, beforeEach, expect, test } from "bun:test";
import { type ScriptedUpstream, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { VENDOR_CREDENTIAL, type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

const OWN = "sk-ant-oat01-the-caller's-own";
const MODEL = "claude-opus-4-6";

let upstream: ScriptedUpstream;
let gateway: WiredGateway;

beforeAll(async () => {
  upstream = await scriptedUpstream((_request, reply) =>
    reply.json({ content: [], usage: { input_tokens: 1, output_tokens: 1 } }),
  );
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
});

beforeEach(() => open({}, {}));

/** Sets what opens the lane on the route and on the provider; all that is left out is closed. */
async function open(route: object, provider: object): Promise<void> {
  await gateway.admin("PATCH", "/routes/claude", {
    subscription_passthrough: false,
    fallbacks: [],
    ...route,
  });
  await gateway.admin("PATCH", "/providers/messages-vendor", {
    trusted_for_passthrough: false,
    subscription_passthrough: false,
    subscription_models: [],
    ...provider,
  });
}

type Sent = { model?: string; path?: string; headers?: Record<string, string>; body?: object };

async function call({ model = "claude", path = "/v1/messages", headers, body }: Sent = {}) {
  const before = upstream.seen.length;
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-gateway-key": gateway.secret,
      "x-gateway-lane": "subscription",
      authorization: `Bearer ${OWN}`,
      ...headers,
    },
    body: JSON.stringify(body ?? { model, max_tokens: 8, messages: [{ role: "user", content: "hi" }] }),
  });
  const text = await answer.text();
  const seen = upstream.seen.slice(before);
  return { status: answer.status, text, seen, presented: seen.map(presentedBy) };
}

const presentedBy = ({ headers }: ScriptedUpstream["seen"][number]) =>
  headers["authorization"] ?? headers["x-api-key"];

const TRUSTED = { trusted_for_passthrough: true };
const OPEN = { subscription_passthrough: true };

test.each([
  ["the route", OPEN, TRUSTED, "claude"],
  ["the provider", {}, { ...TRUSTED, ...OPEN }, "claude"],
  ["the provider, for a model without a route", {}, { ...TRUSTED, ...OPEN }, "claude-sonnet-4-6"],
  ["a glob of models", {}, { ...TRUSTED, subscription_models: ["claude-opus-*"] }, "claude"],
])(
  "a lane that %s opens takes the caller's own credential, and no other header of ours",
  async (_by, route, provider, model) => {
    await open(route, provider);
    const { status, seen, presented } = await call({ model });
    expect([status, presented]).toEqual([200, [`Bearer ${OWN}`]]);
    expect(JSON.stringify(seen[0]?.headers)).not.toContain("x-gateway");
  },
);

const MOVED = { fallbacks: [{ provider: "chat-vendor", model: "gpt-4o" }] };

test.each([
  [
    "a closed lane",
    {},
    TRUSTED,
    {},
    /subscription_passthrough .* route claude or the provider messages-vendor/,
  ],
  [
    "another model than the glob's",
    {},
    { ...TRUSTED, subscription_models: ["claude-haiku-*"] },
    {},
    /subscription_models/,
  ],
  ["a host that is not the vendor's", OPEN, {}, {}, /messages-vendor .* trusted_for_passthrough/],
  ["no other credential", OPEN, TRUSTED, { headers: { authorization: "" } }, /Authorization/],
  ["a fallback off the lane", { ...OPEN, ...MOVED }, TRUSTED, {}, /chat-vendor/],
  ["a translated call", OPEN, TRUSTED, { path: "/v1/chat/completions" }, /translated/],
  [
    "another lane",
    OPEN,
    TRUSTED,
    { headers: { "x-gateway-lane": "subscribtion" } },
    /must be `subscription`/,
  ],
] as const)(
  "%s refuses a call that asks for the lane, names the setting, and sends nothing",
  async (_why, route, provider, sent, says) => {
    await open(route, provider);
    const { status, text, seen } = await call(sent);
    expect([says.source === "must be `subscription`" ? 400 : 403, []] as unknown).toEqual([status, seen]);
    expect(JSON.parse(text).error.message).toMatch(says);
  },
);

test("a call that does not ask for the lane is the organisation's, as before", async () => {
  const { status, presented } = await call({ headers: { "x-gateway-lane": "" } });
  expect([status, presented]).toEqual([200, [VENDOR_CREDENTIAL]]);
});

test.each([
  ["/v1/batches", { input_file_id: "file-1", endpoint: "/v1/chat/completions", completion_window: "24h" }],
  [
    "/v1/messages/batches",
    { requests: [{ custom_id: "a", params: { model: MODEL, max_tokens: 1, messages: [] } }] },
  ],
])("a batch at %s cannot be on the lane and is refused", async (path, body) => {
  const { status, text, seen } = await call({ path, body });
  expect([status, seen]).toEqual([403, []]);
  expect(JSON.parse(text).error.message).toContain("batch");
});
