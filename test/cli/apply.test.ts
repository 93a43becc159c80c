import { describe, expect, test } from "bun:test";
import { readDeclaration } from "#gateway/cli/apply/declaration.ts";
import { planStep } from "#gateway/cli/apply/plan.ts";
import { stepText } from "#gateway/cli/apply/plan-text.ts";

const read = (text: string, env: Record<string, string> = {}) =>
  readDeclaration(text, "f.yaml", (name) => env[name]);

/** What is wrong, a line each. */
function faults(text: string, env: Record<string, string> = {}): string[] {
  try {
    read(text, env);
  } catch (error) {
    return (error as Error).message.split("\n");
  }
  return [];
}

describe("a file", () => {
  test("every fault is named with its line and its place", () => {
    const text = `
providers:
  openai:
    kind: openai
    credential: sk-written-out
routes:
  coding:
    surface: cat
    provider: openai
    model: m
    modle: z
  half: { examples: x }
kyes: {}
prices: {}
settings: { hooks: "yes" }
`;
    expect(faults(text)).toEqual([
      "f.yaml:5 providers.openai.credential: A secret does not belong in a file. Refer to an environment variable instead, and write nothing else.",
      "f.yaml:8 routes.coding.surface: Expected one of chat, embeddings, image_generation, tts, rerank.",
      "f.yaml:11 routes.coding.modle: Unexpected property.",
      "f.yaml:12 routes.half.examples: Expected array.",
      "f.yaml:13 kyes: Unknown kind. Known kinds are providers, guardrails, routes, mcp-servers, hook-policies, teams, people, role-mappings, keys, budgets, alerts, prices, discounts, seats, commitments, vendor-accounts, export-destination, reports, settings.",
      "f.yaml:14 prices: Expected a list.",
      "f.yaml:15 settings.hooks: Expected boolean.",
    ]);
    expect(faults("routes: [").join()).toContain("f.yaml:1");
    expect(faults("keys:\n  a: {}\n  a: {}")).toEqual(["f.yaml:3: Map keys must be unique"]);
  });

  test("variables are filled in, one that is not set is a fault, and no fault shows a value", () => {
    const text = `providers:\n  a: { kind: openai, credential: '\${KEY}', base_url: 'https://\${HOST}/v1' }`;
    const [provider] = read(text, { KEY: "sk-canary", HOST: "example.com" });
    expect(provider?.body).toMatchObject({ credential: "sk-canary", base_url: "https://example.com/v1" });
    expect(faults(text, { KEY: "sk-canary" })).toEqual([
      "f.yaml:2 providers.a.base_url: The variable HOST is not set.",
    ]);
    expect(faults(`${text}\n  B: {}`, { KEY: "sk-canary", HOST: "h" }).join()).not.toContain("canary");
    const [rule] = read(`guardrails:\n  a: { match: { pattern: 'x$\${2}' } }`);
    expect(rule?.body).toEqual({ match: { pattern: `x\${2}` } });
  });

  test("what others name is applied before them, whatever the order of the file", () => {
    const text = `
settings: { default_route: r }
keys: { k: {} }
routes: { r: { surface: chat, provider: p, model: m } }
providers: { p: &same { kind: echo }, q: *same }
`;
    expect(read(text).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "providers p",
      "providers q",
      "routes r",
      "keys k",
      "settings ",
    ]);
    expect(read("")).toEqual([]);
  });
});

describe("teams", () => {
  test("a team is applied after the one above it, and a circle is left for the gateway to refuse", () => {
    const names = (text: string) => read(text).map(({ name }) => name);
    expect(names("teams: { api: { parent: web }, ops: {}, web: { parent: all }, all: {} }")).toEqual([
      "all",
      "web",
      "api",
      "ops",
    ]);
    expect(names("teams: { a: { parent: b }, b: { parent: a }, c: { parent: elsewhere } }").sort()).toEqual([
      "a",
      "b",
      "c",
    ]);
  });

  test("money is compared by its amount, and a budget is monthly unless stated otherwise", () => {
    const [team] = read("teams: { web: { budget_usd: 50, cost_center: CC-1 } }");
    if (!team) throw new Error("nothing is declared");
    const has = {
      name: "web",
      parent: null,
      cost_center: "CC-1",
      budget_usd: "50.00",
      budget_period: "month",
    };
    expect(planStep(team, has).action).toBe("keep");
    expect(planStep(team, { ...has, budget_period: "day" }).call?.body).toEqual({ budget_period: "month" });
  });
});

describe("people and role mappings", () => {
  const plan = (text: string, present: Record<string, unknown> | null) => {
    const [declared] = read(text);
    if (!declared) throw new Error("nothing is declared");
    return planStep(declared, present);
  };

  test("a person is their e-mail in any case, and the name is a member like the others", () => {
    const text = "people: { Ada@Example.com: { name: Ada, role: manager } }";
    expect(plan(text, null).call).toEqual({
      method: "POST",
      path: "/admin/v1/people",
      body: { email: "ada@example.com", name: "Ada", role: "manager" },
    });
    const has = {
      id: "1",
      email: "ada@example.com",
      name: "ada",
      role: "manager",
      team: null,
      disabled: false,
    };
    expect(plan(text, has).call).toEqual({
      method: "PATCH",
      path: "/admin/v1/people/1",
      body: { name: "Ada" },
    });
    expect(plan(text, { ...has, name: "Ada" })).toMatchObject({ action: "keep", call: null });
    expect(faults("people:\n  a@b.c: {}\n  A@B.C: {}")).toEqual([
      "f.yaml:3 people.A@B.C: It is declared twice.",
    ]);
  });

  test("a role mapping changes in what is declared alone", () => {
    const has = { group: "leads", role: "member", team: "web", created_at: "x", updated_at: "x" };
    expect(plan("role-mappings: { leads: { role: manager } }", has).call).toEqual({
      method: "PATCH",
      path: "/admin/v1/role-mappings/leads",
      body: { role: "manager" },
    });
    expect(plan("role-mappings: { leads: { role: member, team: web } }", has).call).toBeNull();
    expect(plan("role-mappings: { leads: { role: member } }", null).call).toEqual({
      method: "PUT",
      path: "/admin/v1/role-mappings/leads",
      body: { role: "member" },
    });
  });
});

describe("a plan", () => {
  const step = (text: string, present: Record<string, unknown> | null, env = {}) => {
    const [declared] = read(text, env);
    if (!declared) throw new Error("nothing is declared");
    return planStep(declared, present);
  };

  test("money, times and absent members are compared by what they mean", () => {
    const price = "prices: [{ model: m, effective_from: 2026-01-01, input: '0.20', output: 0.5 }]";
    const has = {
      id: "1",
      model: "m",
      effective_from: "2026-01-01T00:00:00.000Z",
      input: "0.2",
      output: "0.500",
    };
    expect(step(price, { ...has, provider: null })).toMatchObject({ action: "keep", call: null });
    expect(step(price, { ...has, input: "0.3" }).call).toEqual({
      method: "PATCH",
      path: "/admin/v1/prices/1",
      body: { input: "0.20" },
    });
    const key = "keys: { a: { limits: { budget_usd: 25 }, expires_at: 2027-01-01T01:00:00+01:00 } }";
    const limits = { budget_usd: "25", budget_period: "month" };
    expect(step(key, { id: "1", name: "a", limits, expires_at: "2027-01-01T00:00:00.000Z" }).action).toBe(
      "keep",
    );
    expect(
      step(key, { id: "1", name: "a", limits: { ...limits, concurrency: 2 }, expires_at: null }),
    ).toMatchObject({
      action: "change",
      changes: [{ member: "limits" }, { member: "expires_at" }],
    });
    const owned = { id: "1", name: "a", owner: "änn@example.com" };
    expect(step("keys: { a: { owner: ÄNN@Example.com } }", owned).action).toBe("keep");
  });

  test("only what differs is sent; what the file does not say stays", () => {
    const route = "routes: { r: { surface: chat, provider: p, model: new, keywords: [a] } }";
    const has = {
      name: "r",
      surface: "chat",
      provider: "p",
      model: "old",
      keywords: ["a"],
      description: "kept",
    };
    expect(step(route, has).call).toEqual({
      method: "PATCH",
      path: "/admin/v1/routes/r",
      body: { model: "new" },
    });
    expect(step(route, null).call).toMatchObject({ method: "PUT", path: "/admin/v1/routes/r" });
  });

  test("the bucket of the daily export is replaced with what it has, and none before is set at its only address", () => {
    const text = `export-destination: { endpoint: "https://s3.example.com", bucket: costs, access_key_id: A, secret_access_key: "\${S3}" }`;
    const env = { S3: "canary" };
    const body = { endpoint: "https://s3.example.com", bucket: "costs", access_key_id: "A" };
    const path = "/admin/v1/export/destination";
    const sent = { ...body, secret_access_key: "canary" };
    expect(step(text, null, env).call).toEqual({ method: "PUT", path, body: sent });
    const has = { ...body, prefix: "focus/", done_until: "2026-11-08T00:00:00.000Z", failure: null };
    const again = step(text, has, env);
    expect(again).toMatchObject({ action: "keep", resent: ["secret_access_key"] });
    expect(again.call).toEqual({ method: "PUT", path, body: { ...sent, prefix: "focus/" } });
    expect(faults(text.replace("costs,", "costs, from: 2026-11-01,"), env)).not.toEqual([]);
  });

  test("a secret is sent again, shown never, and taken away by null", () => {
    const text = `providers: { p: { kind: openai, credential: '\${KEY}' } }`;
    const again = step(
      text,
      { name: "p", kind: "openai", credential_source: "stored" },
      { KEY: "sk-canary" },
    );
    expect(again).toMatchObject({
      action: "keep",
      resent: ["credential"],
      call: { body: { credential: "sk-canary" } },
    });
    expect(stepText(again)).toContain("(from KEY)");
    expect(stepText(again)).not.toContain("canary");
    expect(stepText(step(text, null, { KEY: "sk-canary" }))).not.toContain("canary");
    const away = "providers: { p: { kind: openai, credential: null } }";
    expect(step(away, { name: "p", kind: "openai", credential_source: "stored" }).call?.body).toEqual({
      credential: null,
    });
    expect(step(away, { name: "p", kind: "openai", credential_source: "none" }).action).toBe("keep");
  });
});

test("a header that is shown by its end is sent again, and differs only by that end", () => {
  const text = `providers:\n  p:\n    kind: openai\n    headers:\n      x-secret: \${TOKEN}\n`;
  const step = (TOKEN: string) => {
    const [declared] = read(text, { TOKEN });
    if (declared === undefined) throw new Error("nothing was declared");
    return planStep(declared, { name: "p", kind: "openai", headers: { "x-secret": "…6789" } });
  };
  const same = step("Bearer 0123456789");
  expect([same.action, same.call?.body]).toEqual(["keep", { headers: { "x-secret": "Bearer 0123456789" } }]);
  const other = step("Bearer 0000000000");
  expect(other.action).toBe("change");
  expect(stepText(other)).not.toContain("0000000000");
});
