import { describe, expect, test } from "bun:test";
import type { Guardrail } from "#gateway/directory.ts";
import { evaluateGuardrails, type GuardrailTools, type ModelCallInput } from "#gateway/guardrail/evaluate.ts";
import { compilePattern } from "#gateway/guardrail/pattern.ts";
import { key, provider, route } from "#test/routing/world.ts";

const rule = (name: string, facts: Partial<Guardrail> = {}): Guardrail => ({
  name,
  mode: "enforce",
  action: "block",
  message: null,
  tags: null,
  keys: null,
  routes: null,
  clients: null,
  fitsModel: null,
  pattern: null,
  detect: null,
  callout: null,
  ...facts,
});

const judged = (
  facts: Partial<ModelCallInput> & { route?: ModelCallInput["choice"]["route"] } = {},
): ModelCallInput => ({
  key: key(),
  labels: { client: "app", tags: ["alpha", "beta"] },
  choice: {
    route: facts.route ?? route("summary"),
    routeName: "summary",
    targets: [
      { provider: provider("p"), model: "gpt-4o", wire: "chat" },
      { provider: provider("p"), model: "llama-3", wire: "chat" },
    ],
  },
  additionalModels: () => ["beside-1", null],
  texts: () => ["nothing", "the secret"],
  ...facts,
});

const unasked = async () => {
  throw new Error("not to be asked");
};
const tools: GuardrailTools = { pace: () => true, consult: unasked };

const HOLDS: Record<string, Partial<Guardrail>> = {
  "a tag": { tags: ["gamma", "beta"] },
  "the key's id": { keys: [key().id] },
  "the key's name": { keys: [key().name] },
  "the route": { routes: ["summary"] },
  "the client": { clients: ["app"] },
  "the model of a fallback": { fitsModel: (model) => model.startsWith("llama") },
  "a model that the body names besides": { fitsModel: (model) => model.startsWith("beside") },
  "a text": { pattern: compilePattern("s.cret") },
  "one of several finds": { detect: [compilePattern("no such"), compilePattern("secret")] },
  "all at once": { tags: ["beta"], clients: ["app"], pattern: compilePattern("^the ") },
};

const FAILS: Record<string, Partial<Guardrail>> = {
  "a tag": { tags: ["alph"] },
  "the key": { keys: ["other"] },
  "the route": { routes: ["(direct)"] },
  "the client": { clients: ["App"] },
  "the models": { fitsModel: () => false },
  "the texts": { pattern: compilePattern("^secret") },
  "every find": { detect: [compilePattern("no such")] },
  "one of two": { tags: ["beta"], clients: ["other"] },
};

describe("a rule", () => {
  test.each(Object.keys(HOLDS))("holds for %s", async (name) => {
    const verdict = await evaluateGuardrails([rule("r", HOLDS[name])], judged(), tools);
    expect(verdict).toMatchObject({ kind: "block", rule: "r" });
  });

  test.each(Object.keys(FAILS))("does not hold without %s", async (name) => {
    const verdict = await evaluateGuardrails([rule("r", FAILS[name])], judged(), tools);
    expect(verdict).toEqual({ kind: "pass", rule: null, observed: [] });
  });

  test("that asks for nothing holds only where the route lists it", async () => {
    expect((await evaluateGuardrails([rule("r")], judged(), tools)).kind).toBe("pass");
    const listed = judged({ route: route("summary", { guardrails: ["r"] }) });
    expect((await evaluateGuardrails([rule("r")], listed, tools)).kind).toBe("block");
  });

  test("that the route lists still asks for what it asks for", async () => {
    const listed = judged({ route: route("summary", { guardrails: ["r"] }) });
    expect((await evaluateGuardrails([rule("r", { tags: ["gamma"] })], listed, tools)).kind).toBe("pass");
  });

  test("that does not hold by labels reads no text", async () => {
    const unread = judged({
      texts: () => {
        throw new Error("not to be read");
      },
    });
    const it = rule("r", { tags: ["gamma"], pattern: compilePattern("x") });
    expect((await evaluateGuardrails([it], unread, tools)).kind).toBe("pass");
  });
});

describe("of several rules", () => {
  const first = rule("first", { tags: ["alpha"], message: "one" });
  const second = rule("second", { tags: ["alpha"], action: "soft_deny", message: "two" });

  test("the first that holds decides", async () => {
    expect(await evaluateGuardrails([first, second], judged(), tools)).toMatchObject({
      rule: "first",
      message: "one",
    });
    expect(await evaluateGuardrails([second, first], judged(), tools)).toMatchObject({
      kind: "soft_deny",
      rule: "second",
    });
  });

  test("one that is observed refuses nothing and is told", async () => {
    const observing = { ...first, mode: "observe" as const };
    expect(await evaluateGuardrails([observing], judged(), tools)).toEqual({
      kind: "pass",
      rule: "first",
      observed: ["first"],
    });
    expect(await evaluateGuardrails([observing, second], judged(), tools)).toMatchObject({
      rule: "second",
      observed: ["first"],
    });
  });
});

test("a refusal is soft where the route says so", async () => {
  const soft = judged({ route: route("summary", { refuseWith: "soft_deny" }) });
  expect((await evaluateGuardrails([rule("r", { tags: ["alpha"] })], soft, tools)).kind).toBe("soft_deny");
});

describe("a rule with a service", () => {
  const callout = {
    url: "https://judge.example",
    timeoutMs: 10,
    onFailure: "open",
    allowPrivateNetwork: false,
  } as const;
  const asking = rule("r", { tags: ["alpha"], callout, message: "ours" });

  test("refuses only what that objects to, in its words or else in the rule's", async () => {
    const answers = (objection: { message: string | null } | null) =>
      evaluateGuardrails([asking], judged(), { ...tools, consult: async () => objection });
    expect((await answers(null)).kind).toBe("pass");
    expect(await answers({ message: null })).toMatchObject({ kind: "block", message: "ours" });
    expect(await answers({ message: "theirs" })).toMatchObject({ kind: "block", message: "theirs" });
  });

  test("asks only where everything else holds", async () => {
    expect((await evaluateGuardrails([{ ...asking, tags: ["gamma"] }], judged(), tools)).kind).toBe("pass");
  });
});
