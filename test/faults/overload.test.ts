import { beforeAll, expect, test } from "bun:test";
import { defaultCallsMax } from "#gateway/upstream/in-flight.ts";
import { doneVendor } from "#test/limits/cent-vendor.ts";
import { callOnce, type Outcome } from "#test/limits/world.ts";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import type { ScriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";

// A gateway that takes eight calls at once, six of one key and four at a provider, and providers that answer when they may.

const place = scratch();
let gateway: LocalGateway;
let upstream: ScriptedUpstream;
let asked = 0;
let gate = Promise.withResolvers<void>();

beforeAll(async () => {
  upstream = await doneVendor(() => {
    asked += 1;
    return gate.promise;
  });
  const env = { CALLS_MAX: "8", CALLS_PER_KEY_MAX: "6", CALLS_PER_PROVIDER_MAX: "4" };
  gateway = await localGateway({ dataDir: place.path, env });
  const provider = { kind: "openai-compatible", base_url: `${upstream.url}/v1`, allow_private_network: true };
  for (const name of ["one", "two"]) {
    await gateway.admin("PUT", `/providers/${name}`, { ...provider, models: [`model-${name}`] });
  }
  await gateway.admin("PUT", "/providers/narrow", {
    ...provider,
    models: ["model-narrow"],
    in_flight_max: 1,
  });
  await gateway.admin("PUT", "/routes/both", {
    surface: "chat",
    provider: "narrow",
    model: "model-narrow",
    fallbacks: [{ provider: "two", model: "model-two" }],
  });
});

const newKey = async (name: string): Promise<string> =>
  (await gateway.admin<{ secret: string }>("POST", "/keys", { name })).secret;

/** Calls that wait at their provider, once all have got there. */
async function held(secret: string, model: string, calls: number): Promise<Promise<Outcome>[]> {
  const before = asked;
  const under = Array.from({ length: calls }, () => callOnce(gateway.url, secret, { model }));
  await until(() => asked === before + calls);
  return under;
}

async function release(under: readonly Promise<Outcome>[]): Promise<void> {
  gate.resolve();
  for (const outcome of await Promise.all(under)) expect(outcome.status).toBe(200);
  gate = Promise.withResolvers<void>();
}

const refusalOf = async (secret: string, model: string) => {
  const { status, type, code, message, headers } = await callOnce(gateway.url, secret, { model });
  return { status, type, code, message, retryAfter: headers.get("retry-after") };
};

const refused = (limit: string) => ({
  status: 503,
  type: "server_error",
  code: "overloaded",
  message: expect.stringContaining(`${limit} has reached`),
  retryAfter: "2",
});

test("calls beyond what a provider, a key or the gateway has in flight are refused at once, and pass again afterwards", async () => {
  const [ada, bob] = [await newKey("ada"), await newKey("bob")];
  const atOne = await held(ada, "model-one", 4);
  expect(await refusalOf(ada, "model-one")).toEqual(refused("The provider"));
  const atTwo = await held(ada, "model-two", 2);
  expect(await refusalOf(ada, "model-two")).toEqual(refused("The key"));
  const ofBob = await held(bob, "model-two", 2);
  expect(await refusalOf(bob, "model-narrow")).toEqual(refused("The gateway"));
  expect(asked).toBe(8);
  await release([...atOne, ...atTwo, ...ofBob]);
  await release(await held(ada, "model-one", 4));
  const metrics = await fetch(`${gateway.url}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  const text = await metrics.text();
  expect(text).toContain("tallygate_calls_in_flight 0");
  expect(text).toContain('tallygate_calls_overloaded_total{limit="provider"} 1');
});

test("a call that only its first provider has no room for passes", async () => {
  const key = await newKey("cleo");
  const first = await held(key, "model-narrow", 1);
  expect(await refusalOf(key, "model-narrow")).toEqual(refused("The provider"));
  const second = await held(key, "both", 1);
  await release([...first, ...second]);
});

test("without a setting, as many calls are taken as open files allow", () => {
  const limits = (files: string) => () =>
    `Limit  Soft Limit  Hard Limit\nMax open files            ${files}    files`;
  expect(defaultCallsMax(limits("1024 4096"))).toBe(412);
  expect(defaultCallsMax(limits("1048576 1048576"))).toBe(10_000);
  expect(defaultCallsMax(limits("unlimited unlimited"))).toBe(10_000);
});
