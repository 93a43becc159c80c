import { describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import fc from "fast-check";
import { ApiError } from "#gateway/pages/data/api.ts";
import * as bills from "#gateway/pages/settings/forms/bill-forms.ts";
import * as calls from "#gateway/pages/settings/forms/call-forms.ts";
import { documentOf, rowsOf } from "#gateway/pages/settings/forms/document-rows.ts";
import { bodyOf, type Drafts, draftsOf } from "#gateway/pages/settings/forms/draft.ts";
import { faultAt, faultsIn, wordedFaults } from "#gateway/pages/settings/forms/faults.ts";
import { type Field, type Form, fieldsFor } from "#gateway/pages/settings/forms/field.ts";
import * as people from "#gateway/pages/settings/forms/people-forms.ts";
import { faultsOf } from "#shared/schema.ts";
import { DEFAULT_SETTINGS, Settings } from "#shared/settings.ts";

const FORMS = Object.values({ ...calls, ...people, ...bills });

/** Bodies without a form of this kind, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  BackfillBody: "`tallygate backfill` sends it",
  DigestWebhookBody: "the webhook of the digest is set by the API alone",
  RedeemBody: "the sign-in asks for it",
  RestateBody: "The page Prices restates calls.",
  PeriodBody: "The page Prices closes months.",
  RepriceBody: "the page of prices has a dry run and a progress bar for it",
  RotateBody: "a key's dialogue offers four times for the old secret",
  SavedReportBody: "Explore saves the report that it shows",
  ScimGroupBody: "identity providers send it",
  ScimUserBody: "identity providers send it",
  SignInLinkBody: "a button in a person's dialogue sends it",
};

/** Every body that the shared schemas of the admin API describe, by name. */
async function bodies(): Promise<Map<string, TSchema>> {
  const found = new Map<string, TSchema>([["Settings", Settings]]);
  for await (const file of new Bun.Glob("*.ts").scan("shared/admin")) {
    const exported: Record<string, unknown> = await import(`#shared/admin/${file}`);
    for (const [name, schema] of Object.entries(exported)) {
      // What ends so is a schema.
      if (name.endsWith("Body")) found.set(name, schema as TSchema);
    }
  }
  return found;
}

/** The places of a schema's members, such as `limits.budget_usd`; what has free names is one place. */
function placesOf(schema: TSchema, at: string): string[] {
  const [form = schema] = (schema["anyOf"] ?? [schema]).filter(({ type }: TSchema) => type !== "null");
  const inside: TSchema = form["type"] === "array" ? form["items"] : form;
  const members = Object.entries<TSchema>(inside["properties"] ?? {});
  return members.length === 0
    ? [at]
    : members.flatMap(([name, member]) => placesOf(member, at === "" ? name : `${at}.${name}`));
}

const fieldPlaces = ({ name, kind, members, entry }: Field, at: string): string[] => {
  const place = at === "" ? name : `${at}.${name}`;
  const inside = kind === "list" ? (entry?.members ?? []) : members;
  return inside.length === 0 ? [place] : inside.flatMap((member) => fieldPlaces(member, place));
};

describe("what an administrator may set", () => {
  test("is in a form of the console, or is listed with a reason", async () => {
    const missing: string[] = [];
    for (const [name, schema] of await bodies()) {
      const forms = FORMS.filter(({ create }) => create === schema);
      expect([name, forms.length > 0]).toEqual([name, !(name in ELSEWHERE)]);
      const shown = forms.flatMap(({ fields }) => fields.flatMap((field) => fieldPlaces(field, "")));
      if (forms.length > 0) {
        missing.push(
          ...placesOf(schema, "")
            .filter((place) => !shown.includes(place))
            .map((it) => `${name}: ${it}`),
        );
      }
    }
    expect(missing).toEqual([]);
  });

  test("can be entered for a new one and for a stored one alike, but for what names it", () => {
    for (const { fields, create, change } of FORMS) {
      const fixed = change && Object.keys(create.properties).filter((name) => !(name in change.properties));
      const name = fields[0]?.name;
      expect([[], null, [name]]).toContainEqual(fixed);
    }
  });
});

const TARGET = { provider: "openai", model: "gpt-5.2", weight: 3 };
const SCOPES = {
  routes: [],
  models: ["gpt-5.2"],
  mcp: ["jira__search"],
  providers: ["openai"],
  reports: true,
};
const LIMITS = {
  requests_per_minute: 60,
  tokens_per_minute: 100_000,
  concurrency: 4,
  budget_usd: "25.000000000000000001",
  budget_period: "day",
  unpriced: "allow",
  when_away: "refuse",
};
const CLAUDE = { permissions: { deny: ["WebFetch"] } };

/** A whole body for each form: every member that it may have. */
const TOKEN = {
  ...{ name: "ci", scopes: ["pull_requests"], role: "manager", repository: "acme/shop" },
  ...{ team: "platform", expires_at: "2027-01-31" },
};

const WHOLE: readonly (readonly [name: string, form: Form, body: Record<string, unknown>])[] = [
  [
    "a provider",
    calls.PROVIDER,
    {
      name: "openai",
      kind: "openai",
      credential: " a secret ",
      credentials: ["one", "two"],
      base_url: "https://example.com/v1",
      location: "eu",
      models: ["gpt-*"],
      default_for: ["moderations"],
      headers: { "x-team": "platform", "x-empty": "" },
      first_byte_seconds: 60,
      idle_seconds: 30,
      in_flight_max: 5,
      pass_through: { paths: ["/v1/vector_stores*"] },
      stream_options: false,
      responses: false,
      subscription_passthrough: true,
      subscription_models: ["claude-*"],
      trusted_for_passthrough: true,
      allow_private_network: true,
      enabled: false,
    },
  ],
  [
    "a route",
    calls.ROUTE,
    {
      name: "code",
      surface: "chat",
      ...TARGET,
      fallbacks: [TARGET, { provider: "anthropic", model: "claude-opus-4-6" }],
      description: "Two\nlines",
      examples: ["One\nexample", "another"],
      keywords: ["refactor"],
      guardrails: ["no-secrets"],
      first_byte_seconds: 60,
      idle_seconds: 30,
      refuse_with: "soft_deny",
      inexpressible: "drop",
      usage_chunk: "pass",
      on_client_gone: "cancel",
      subscription_passthrough: true,
      body_capture: true,
      enabled: false,
    },
  ],
  [
    "a guardrail",
    calls.GUARDRAIL,
    {
      name: "no-secrets",
      position: 0,
      mode: "enforce",
      action: "soft_deny",
      match: {
        pattern: " launch\ncode ",
        detect: ["email", "iban"],
        models: ["gpt-*"],
        routes: ["(direct)"],
        tags: ["a"],
        keys: ["ci"],
        clients: ["codex"],
      },
      callout: {
        url: "http://127.0.0.1:9",
        timeout_ms: 500,
        on_failure: "closed",
        allow_private_network: true,
      },
      message: "No.",
      enabled: false,
    },
  ],
  [
    "a price",
    calls.PRICE,
    {
      model: "gpt-5.2",
      provider: "openai",
      effective_from: "2026-01-01",
      tier: "flex",
      multiplier: "0.5",
      input: "1",
      output: "2",
      cached_input: "0.1",
      cache_write_5m: "1.25",
      cache_write_1h: "2",
      per_image: "0.04",
      per_character: "0.000015",
      per_call: "0.000000000000000001",
    },
  ],
  [
    "a discount",
    calls.DISCOUNT,
    {
      provider: "openai",
      percent: "12.5",
      effective_from: "2026-01-01",
      effective_to: "2027-01-01",
      models: ["gpt-*"],
      tiers: ["standard"],
    },
  ],
  [
    "a tool server",
    calls.TOOL_SERVER,
    {
      name: "jira",
      url: "https://mcp.example.com",
      credential: "a secret",
      credential_header: "x-token",
      tools: { allow: [], deny: ["delete_*"] },
      price_per_call: "0.001",
      prices: { search: "0.01" },
      allow_private_network: true,
      enabled: false,
    },
  ],
  [
    "a hook policy",
    calls.HOOK_POLICY,
    {
      name: "no-shell",
      tool: "Bash",
      server: "jira",
      client: "claude-code",
      action: "deny",
      reason: "Ask first.",
      enabled: false,
    },
  ],
  [
    "a key",
    people.KEY,
    {
      name: "ci",
      owner: "ada@example.com",
      service: true,
      team: "platform",
      scopes: SCOPES,
      limits: LIMITS,
      expires_at: "2027-01-31T00:00:00.000Z",
    },
  ],
  [
    "a person",
    people.PERSON,
    {
      email: "ada@example.com",
      name: "Ada",
      github_login: "ada",
      role: "manager",
      team: "platform",
      budget_usd: "50",
      budget_period: "day",
      unpriced: "allow",
      disabled: true,
    },
  ],
  [
    "a team",
    people.TEAM,
    {
      name: "payments",
      parent: "platform",
      cost_center: "CC-1",
      budget_usd: "100",
      budget_period: "month",
      unpriced: "refuse",
      key_template: { scopes: SCOPES, limits: LIMITS },
      claude_settings: CLAUDE,
    },
  ],
  ["a token", people.TOKEN, TOKEN],
  ["a role mapping", people.ROLE_MAPPING, { group: "engineering", role: "member", team: "platform" }],
  ["one's own key", people.OWN_KEY, { name: "laptop", expires_at: "2027-01-31" }],
];

describe("the body that a form sends", () => {
  test.each(WHOLE)("for %s has every member as it was entered, and the schema takes it", (_, form, body) => {
    const fields = fieldsFor(form, true);
    expect(fields.map(({ name }) => name).sort()).toEqual(Object.keys(body).sort());
    expect(bodyOf(fields, draftsOf(form.fields, body), null)).toEqual(body);
    expect(faultsOf(form.create, body)).toEqual([]);
  });

  test.each(WHOLE)("for %s has nothing but what was changed", (_, form, body) => {
    const before = draftsOf(form.fields, body);
    expect(bodyOf(form.fields, before, before)).toEqual({});
    for (const { name } of form.fields) {
      const emptied = { ...before, [name]: draftsOf(form.fields, {})[name] ?? null };
      expect(Object.keys(bodyOf(form.fields, emptied, before)).filter((it) => it !== name)).toEqual([]);
    }
  });

  test("of a new resource leaves out what was not entered", () => {
    const drafts = { ...draftsOf(people.KEY.fields, null), name: " ci " };
    expect(bodyOf(people.KEY.fields, drafts, null)).toEqual({ name: "ci", service: false });
  });

  test("of settings has what was changed only", () => {
    const { fields } = people.AGENT_SETTINGS;
    const before = draftsOf(fields, DEFAULT_SETTINGS);
    expect(bodyOf(fields, { ...before, hooks: false }, before)).toEqual({ hooks: false });
  });
});

/** The change of a stored resource by new drafts of some of its members. */
function changeOf(form: Form, stored: Record<string, unknown>, drafts: Drafts) {
  const before = draftsOf(form.fields, stored);
  return bodyOf(fieldsFor(form, false), { ...before, ...drafts }, before);
}

describe("what was emptied is sent as the schema means it", () => {
  const provider = {
    models: ["gpt-*"],
    headers: { a: "b" },
    base_url: "https://example.com",
    default_for: [],
  };
  const scopes = { routes: [], models: ["gpt-5.2"] };
  const guardrail = {
    match: { tags: ["a"] },
    callout: { url: "https://a", timeout_ms: 1, on_failure: "open" },
  };
  const team = { key_template: { limits: { concurrency: 1 } }, cost_center: "CC-1" };
  const empty = (form: Form, name: string) => draftsOf(form.fields, {})[name] ?? null;

  test.each([
    ["null where null means the default", calls.PROVIDER, provider, { models: "" }, { models: null }],
    ["an object without members", calls.PROVIDER, provider, { headers: [] }, { headers: {} }],
    ["null for an address of one's own", calls.PROVIDER, provider, { base_url: "" }, { base_url: null }],
    ["nothing for a secret that was left empty", calls.PROVIDER, provider, { credential: "" }, {}],
    ["null for a secret to delete", calls.PROVIDER, provider, { credential: null }, { credential: null }],
    ["an empty list", calls.ROUTE, { examples: ["a"] }, { examples: [] }, { examples: [] }],
    ["an empty text", calls.ROUTE, { description: "a" }, { description: "" }, { description: "" }],
    ["null for what another target takes", calls.ROUTE, { weight: 1 }, { weight: "" }, { weight: null }],
    [
      "a group without the member, and with the empty list beside it",
      people.KEY,
      { scopes },
      { scopes: { routes: null, models: "", mcp: "", providers: "", reports: false } },
      { scopes: { routes: [] } },
    ],
    [
      "a group without members",
      people.KEY,
      { scopes },
      { scopes: empty(people.KEY, "scopes") },
      { scopes: {} },
    ],
    [
      "null for limits",
      people.KEY,
      { limits: LIMITS },
      { limits: empty(people.KEY, "limits") },
      { limits: null },
    ],
    [
      "null for a group that is switched off",
      calls.GUARDRAIL,
      guardrail,
      { callout: null },
      { callout: null },
    ],
    ["no conditions", calls.GUARDRAIL, guardrail, { match: empty(calls.GUARDRAIL, "match") }, { match: {} }],
    [
      "null for a template of the team above",
      people.TEAM,
      team,
      { key_template: null },
      { key_template: null },
    ],
    [
      "a template that limits nothing",
      people.TEAM,
      team,
      { key_template: draftsOf(people.TEAM.fields, { key_template: {} })["key_template"] ?? null },
      { key_template: {} },
    ],
  ] as const)("%s", (_, form, stored, drafts, body) => {
    expect(changeOf(form, stored, drafts)).toEqual(body);
  });

  test("what a stored resource must have cannot be emptied", () => {
    const needed = fieldsFor(calls.HOOK_POLICY, false).filter(({ isRequired }) => isRequired);
    expect(needed.map(({ name }) => name)).toEqual(["tool", "reason"]);
  });
});

describe("a refusal", () => {
  const refusal = (message: string) => new ApiError(message, { status: 400, type: "", requestId: null });

  test("names each field that it is about", () => {
    const message = "/limits/budget_usd: Expected one. /fallbacks/1/model: Expected text. Really.";
    expect(faultsIn(refusal(message))).toEqual([
      { path: "/limits/budget_usd", message: "Expected one." },
      { path: "/fallbacks/1/model", message: "Expected text. Really." },
    ]);
    expect(faultsIn(refusal("The provider openai is used by: code."))).toEqual([]);
  });

  test("is shown at the innermost field that stands for its place", () => {
    const faults = [{ path: "/limits/budget_usd", message: "wrong" }];
    expect(faultAt(faults, "/limits/budget_usd")).toBe("wrong");
    expect(faultAt(faults, "/limits")).toBe("wrong");
    expect(faultAt(faults, "/limits", ["/limits/budget_usd"])).toBeUndefined();
    expect(faultAt(faults, "/limit")).toBeUndefined();
  });

  test("is said in the words of the form: no member's name, and no pattern", () => {
    const senseless = (field: Field): Drafts[string] => {
      if (field.kind === "group")
        return Object.fromEntries(field.members.map((it) => [it.name, senseless(it)]));
      if (field.entry) return [senseless(field.entry)];
      if (field.name === "kind" && field.schema["enum"].includes("number")) return "number";
      return field.kind === "switch" ? false : "\u0001 !";
    };
    for (const { fields, create, change } of FORMS) {
      const drafts = Object.fromEntries(fields.map((field) => [field.name, senseless(field)]));
      const faults = faultsOf(change ?? create, bodyOf(fields, drafts, null)).filter(({ path }) =>
        fields.some(({ name }) => path.startsWith(`/${name}`)),
      );
      const words = wordedFaults(fields, faults);
      expect(words.length).toBe(faults.length);
      for (const { label, message } of words)
        expect(`${label}: ${message}`).not.toMatch(/[a-z]_[a-z]|\^|Expected/);
    }
  });

  test("of the schema is found before anything is sent", () => {
    const { fields, create } = calls.ROUTE;
    const drafts = {
      ...draftsOf(fields, null),
      name: "code",
      provider: "openai",
      model: "gpt-5.2",
      first_byte_seconds: "soon",
      fallbacks: [{ provider: "openai", model: "gpt-5.2", weight: "0" }],
    };
    const faults = faultsOf(create, bodyOf(fields, drafts, null));
    expect(faults.map(({ path }) => path).sort()).toEqual(["/fallbacks/0/weight", "/first_byte_seconds"]);
  });
});

describe("a document of any form", () => {
  const key = fc.oneof(fc.string(), fc.constantFrom("a.b", "[0]", "\\", "", "deny"));
  const document = fc.dictionary(
    key,
    fc.letrec((tie) => ({
      value: fc.oneof(
        fc.string(),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((it) => it + 0),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.array(fc.constantFrom("WebFetch", "Bash(rm:*)", " odd", "two\nlines"), { maxLength: 3 }),
        fc.dictionary(key, tie("value"), { maxKeys: 3 }),
      ),
    })).value,
    { maxKeys: 4 },
  );

  test("is the same after it was shown in rows", () => {
    fc.assert(
      fc.property(document, (given) => {
        const plain = JSON.parse(JSON.stringify(given));
        expect(documentOf(rowsOf(plain))).toEqual(plain);
      }),
    );
  });

  test("is refused where its rows contradict each other", () => {
    const row = (name: string, value = "x") => ({ name, kind: "text" as const, value });
    for (const rows of [
      [row("a"), row("a")],
      [row("a"), row("a.b")],
      [row("a.[0]"), row("a.b")],
      [{ name: "a", kind: "number" as const, value: "many" }],
    ]) {
      expect(documentOf(rows)).toBeNull();
    }
    const named = [
      row("permissions.defaultMode", "plan"),
      { name: "model", kind: "null" as const, value: "" },
    ];
    expect(documentOf(named)).toEqual({ permissions: { defaultMode: "plan" }, model: null });
  });
});
