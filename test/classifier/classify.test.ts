import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SEEDS } from "#gateway/classifier/kinds.ts";
import { scanJson } from "#gateway/http/scan.ts";
import { autoCandidates } from "#gateway/routing/auto.ts";
import { classifyCall } from "#gateway/stores/classifier/classify-call.ts";
import { call, key } from "#test/routing/world.ts";
import { dumpOf, filesBelow, found } from "#test/support/canaries.ts";
import { until } from "#test/support/until.ts";
import { classifierWorld } from "./world.ts";

type Gateway = Awaited<ReturnType<Awaited<ReturnType<typeof classifierWorld>>["open"]>>;

let world: Awaited<ReturnType<typeof classifierWorld>>;
let gateway: Gateway;
let secret: string;

const CODE = "Write a Python function that reverses a linked list";
const TRANSLATE = "Translate this letter into French, please";
const NOWHERE = "zzz qqq xxyy";

const keyFor = async (scopes: object = {}): Promise<string> =>
  (await gateway.admin("POST", "/keys", { name: crypto.randomUUID(), scopes })).secret;
const echoRoute = (name: string, more: object = {}) =>
  gateway.admin("PUT", `/routes/${name}`, { surface: "chat", provider: "echo", model: "echo", ...more });
const settled = (it: Gateway) =>
  until(() => !it.deps.classifier.training() && it.deps.directory.current().version > 0);
const classified = async (text: string, as = secret) =>
  (await gateway.ask("POST", "/v1/classify", { secret: as, body: { input: text } })).json;
const names = (it: { candidates: { route: string }[] }) =>
  it.candidates.map(({ route: name }) => name).sort();

async function recordOf(path: string, body: object, as = secret) {
  const session = crypto.randomUUID();
  const answer = await gateway.ask("POST", path, { secret: as, body, headers: { "x-session-id": session } });
  let rows: { route: string; route_source: string; classifier_version: string | null }[] = [];
  await until(async () => {
    rows = await gateway.deps.database.sql`select * from requests where session = ${session}`;
    return rows.length > 0;
  });
  return { status: answer.status, ...rows[0] };
}

beforeAll(async () => {
  world = await classifierWorld();
  gateway = await world.open();
  secret = await keyFor();
});

afterAll(() => world.close());

describe("a first start", () => {
  test("with only the built-in route nothing classifies: auto goes to it, and /v1/classify says so", async () => {
    expect(gateway.deps.classifier.current()).toBeNull();
    expect(await classified(CODE)).toEqual({
      route: "echo",
      source: "default",
      confidence: null,
      reason: "no route has a description; the default route answers",
      matched: [],
      candidates: [],
      why: null,
    });
    const messages = [{ role: "user", content: CODE }];
    expect(await recordOf("/v1/chat/completions", { model: "auto", messages })).toMatchObject({
      status: 200,
      route: "echo",
      route_source: "default",
      classifier_version: null,
    });
  });

  // How long it takes is the benchmark's to tell: here the suite itself keeps the cores busy.
  test("templates' names alone classify, in this process and in another", async () => {
    const other = await world.open();
    for (const name of ["coding", "translation"]) await echoRoute(name);
    const ready = (it: Gateway) => it.deps.classifier.current()?.input.routes.length === 2;
    await Promise.all([until(() => ready(gateway)), until(() => ready(other))]);
    expect(other.deps.classifier.current()?.version).toBe(gateway.deps.classifier.current()?.version ?? "");
    expect(await classified(CODE)).toMatchObject({ route: "coding", source: "classifier" });
    expect(await classified(TRANSLATE)).toMatchObject({ route: "translation", source: "classifier" });
  });
});

describe("auto", () => {
  const surfaces = [
    ["/v1/chat/completions", (text: string) => ({ messages: [{ role: "user", content: text }] })],
    ["/v1/messages", (text: string) => ({ max_tokens: 9, messages: [{ role: "user", content: text }] })],
    ["/v1/responses", (text: string) => ({ input: text })],
  ] as const;
  for (const [path, bodyOf] of surfaces) {
    test(`${path}: the text decides, and the record names the classifier`, async () => {
      const version = gateway.deps.classifier.current()?.version;
      expect(await recordOf(path, { model: "auto", ...bodyOf(CODE) })).toMatchObject({
        status: 200,
        route: "coding",
        route_source: "classifier",
        classifier_version: version,
      });
    });
  }

  test("a text that fits nowhere goes to the default route, and the record names the classifier all the same", async () => {
    const record = await recordOf("/v1/chat/completions", {
      messages: [{ role: "user", content: NOWHERE }],
    });
    expect(record).toMatchObject({ route: "echo", route_source: "default" });
    expect(record.classifier_version).toBe(gateway.deps.classifier.current()?.version ?? "");
    expect((await classified(NOWHERE)).reason).toEndWith("; the default route answers");
  });

  test("a call without a text of the user's goes to the default route unclassified", async () => {
    const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:," } }] }];
    expect(await recordOf("/v1/chat/completions", { model: "auto", messages })).toMatchObject({
      route: "echo",
      route_source: "default",
      classifier_version: null,
    });
  });

  test("outside the key's scope nothing is chosen or named; where the default route is, the likeliest answers", async () => {
    const scoped = await keyFor({ routes: ["translation"] });
    const answer = await classified(CODE, scoped);
    expect(answer).toMatchObject({ route: "translation", source: "default" });
    expect(names(answer)).toEqual(["translation"]);
    expect(answer.reason).toContain("may not use the default route");
    expect(JSON.stringify(answer)).not.toContain('"coding"');
    const messages = [{ role: "user", content: CODE }];
    expect(await recordOf("/v1/chat/completions", { model: "auto", messages }, scoped)).toMatchObject({
      status: 200,
      route: "translation",
      route_source: "default",
    });
  });
});

describe("/v1/classify", () => {
  test("GET, input and messages give the same answer", async () => {
    const { json } = await gateway.ask("GET", `/v1/classify?text=${encodeURIComponent(CODE)}`, { secret });
    expect(json).toEqual(await classified(CODE));
    const messages = [
      { role: "system", content: "Translate everything into French" },
      { role: "user", content: CODE },
    ];
    expect((await gateway.ask("POST", "/v1/classify", { secret, body: { messages } })).json).toEqual(json);
  });

  for (const body of [{}, { input: "" }, { input: "  \n" }, { messages: [] }, { input: 5 }]) {
    test(`${JSON.stringify(body)} holds no text and is refused`, async () => {
      expect((await gateway.ask("POST", "/v1/classify", { secret, body })).status).toBe(400);
    });
  }

  test("an empty ?text= is refused, and so is a call without a key", async () => {
    expect((await gateway.ask("GET", "/v1/classify?text=", { secret })).status).toBe(400);
    expect((await gateway.ask("GET", "/v1/classify", { secret })).status).toBe(400);
    expect((await gateway.ask("GET", "/v1/classify?text=a", { secret: "tg_none" })).status).toBe(401);
  });

  test("1,000 texts go where auto sends them, in and out of scope", async () => {
    const inForce = gateway.deps.classifier.current();
    if (!inForce) throw new Error("nothing classifies");
    const auto = classifyCall(gateway.deps.classifier);
    const step = Math.floor(SEEDS.length / 500);
    const texts = Array.from({ length: 500 }, (_, at) => SEEDS[at * step]?.text ?? "");
    for (const scopes of [{}, { routes: ["coding", "translation"] }]) {
      const as = await keyFor(scopes);
      const current = gateway.deps.directory.current();
      const offer = autoCandidates({ directory: current, surface: "chat.completions", key: key(scopes) });
      const different = [];
      for (const text of texts) {
        const body = scanJson(Buffer.from(JSON.stringify({ messages: [{ role: "user", content: text }] })));
        const chosen = auto(call({ key: key(scopes), body, model: "auto" }), offer);
        const told = await classified(text, as);
        if (chosen?.route.name !== told.route || chosen?.source !== told.source) different.push(text);
      }
      expect(different).toEqual([]);
    }
  });

  test("leaves no record, and its text is nowhere", async () => {
    const canary = "canary-classified-3fa9c51e77d84b60";
    const count = async () => (await gateway.deps.database.sql`select count(*) as n from requests`)[0]?.["n"];
    await gateway.deps.settled();
    const before = await count();
    for (const input of [canary, `${CODE} ${canary}`]) await classified(input);
    await gateway.ask("GET", `/v1/classify?text=${canary}`, { secret });
    await recordOf("/v1/chat/completions", { messages: [{ role: "user", content: `${CODE} ${canary}` }] });
    expect(Number(await count())).toBe(Number(before) + 1);
    const canaries = [{ name: "text", text: canary }];
    const written = [
      ...(await dumpOf(gateway.deps.database.sql)).values(),
      ...filesBelow(gateway.place).values(),
      JSON.stringify(gateway.log),
      await gateway.deps.metrics.metrics(),
    ];
    for (const bytes of written) expect(found(canaries, bytes)).toEqual([]);
  });
});

describe("a change of routes", () => {
  const HOTEL = {
    examples: [
      "I want a double room for Friday",
      "Cancel my room for tonight",
      "Is the suite free at Easter?",
    ],
  };

  test("is in force by itself, and the one before serves until then", async () => {
    await echoRoute("booking", HOTEL);
    expect(gateway.deps.classifier.current() === null).toBe(false);
    await settled(gateway);
    expect(await classified("Is a double room free tonight?")).toMatchObject({ route: "booking" });
    expect(names(await classified(CODE))).toEqual(["booking", "coding", "translation"]);
  });

  test("the administrator sees what training found out, and whether there were enough examples", async () => {
    const view = await gateway.admin("GET", "/classifier");
    expect(view).toMatchObject({ state: "ready", accuracy: null, confused: [], misfits: [] });
    expect(view.routes).toContainEqual({ name: "booking", examples: 3, keywords: 0 });
    expect(view.version).toBe(gateway.deps.classifier.current()?.version);
  });

  test("a restart loads what was stored, and it decides alike", async () => {
    const sql = gateway.deps.database.sql;
    const version = gateway.deps.classifier.current()?.version ?? "";
    await until(async () => (await sql`select 1 from route_models where version = ${version}`).length === 1);
    const [row] = await sql`select created_at from route_models where version = ${version}`;
    const again = await world.open();
    const loaded = await until(() => again.deps.classifier.current());
    expect(loaded.version).toBe(version);
    expect(loaded.trainedAt).toBe(new Date(row?.["created_at"]).toISOString());
    const told = await again.ask("POST", "/v1/classify", { secret, body: { input: CODE } });
    expect(told.json).toEqual(await classified(CODE));
  });

  test("what touches no text of a chat route trains nothing", async () => {
    const before = gateway.deps.classifier.current();
    await gateway.admin("PATCH", "/routes/booking", { on_client_gone: "cancel" });
    await keyFor();
    expect(gateway.deps.classifier.training()).toBe(false);
    expect(gateway.deps.classifier.current() === before).toBe(true);
  });

  test("without routes that say something nothing classifies any more", async () => {
    for (const name of ["booking", "coding", "translation"]) await gateway.admin("DELETE", `/routes/${name}`);
    expect(await classified(CODE)).toMatchObject({ route: "echo", source: "default", confidence: null });
    expect(await gateway.admin("GET", "/classifier")).toMatchObject({ state: "none", version: null });
  });
});
