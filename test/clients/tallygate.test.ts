import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "#shared/version.ts";
import { type Developer, developer, TALLYGATE } from "#test/support/checkout.ts";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { Repository } from "#test/support/fake-github/world.ts";
import { casesOf } from "#test/support/fault-run.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { localGithubApp } from "#test/support/running-github-app.ts";
import { casesTried } from "#test/support/tiers.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// The command `tallygate` against a gateway and a GitHub App as they are.

const WEBHOOK_SECRET = "a secret of more than sixteen characters";

let github: FakeGithub;
let repository: Repository;
let gateway: WiredGateway;
let app: Awaited<ReturnType<typeof localGithubApp>>;
let ada: Developer;
let env: Record<string, string>;

beforeAll(async () => {
  gateway = await wiredGateway({ chat: "http://127.0.0.1:9/v1", messages: "http://127.0.0.1:9" });
  github = startFakeGithub();
  repository = github.story.addRepository("octo-org/shop");
  github.app.webhookSecret = WEBHOOK_SECRET;
  app = await localGithubApp({ DATABASE_URL: gateway.databaseUrl, WEBHOOK_SECRET });
  github.deliverTo(`${app.url}/api/github/webhooks`);
  ada = await developer(github, repository.fullName);
  env = { ADMIN_KEY, TALLYGATE_URL: gateway.url, TALLYGATE_KEY: gateway.secret, GITHUB_TOKEN: ada.token };
});

afterAll(async () => {
  expect(github.faults()).toEqual([]);
});

const tallygate = (words: readonly string[], more: Record<string, string> = {}) =>
  ada.tallygate(words, { ...env, ...more });

const FILE = `
providers:
  openai: { kind: openai, credential: "\${OPENAI}", models: ["gpt-*"] }
guardrails:
  tagged: { match: { tags: [x] }, mode: observe, position: 5 }
routes:
  coding:
    surface: chat
    provider: openai
    model: gpt-5.1
    examples: [Write a function]
    guardrails: [tagged]
mcp-servers:
  files: { url: "https://example.com/mcp", credential: "\${OPENAI}", prices: { read: "0.010" } }
hook-policies:
  no-web: { tool: WebFetch, reason: Not from here. }
people:
  Zoe@example.com: { name: Zoe, role: manager }
  leaver@example.com: { disabled: true }
role-mappings:
  leads: { role: manager }
keys:
  bob: { owner: bob@example.com, scopes: { routes: [coding] }, limits: { budget_usd: "25.00" } }
budgets:
  bob: { on: { kind: key, id: bob }, amount_usd: 30, period: week }
  company: { on: { kind: organisation }, amount_usd: "5000.00", mode: soft, thresholds: [90] }
alerts:
  chat: { on: [threshold, anomaly], to: { kind: slack, url: "https://hooks.example.com/services/\${OPENAI}" } }
prices:
  - { model: qwen3-coder, effective_from: 2026-01-01, input: "0.20", output: 0.8 }
reports:
  by-model:
    title: Models
    spec: { source: requests, dimensions: [model], measures: [cost_usd], filters: {}, range: 7d, compare: none, view: table }
settings: { default_route: coding }
`;

test("a file is planned, applied, and then as declared; every kind", async () => {
  const file = join(ada.home, "tallygate.yaml");
  await Bun.write(file, FILE);
  const secrets = join(ada.home, "secrets");
  const apply = (...words: string[]) => tallygate(["apply", file, ...words], { OPENAI: "sk-canary" });
  const plan = await apply("--dry-run");
  expect(plan).toMatchObject({
    code: 0,
    error: "",
    out: expect.stringContaining("Plan: 14 to create, 1 to change"),
  });
  expect((await gateway.admin<{ data: unknown[] }>("GET", "/hook-policies")).data).toEqual([]);
  const done = await apply("--secrets-to", secrets);
  expect(done).toMatchObject({ code: 0, out: expect.stringContaining("Done: 14 created, 1 changed") });
  for (let times = 0; times < casesTried(1, 2); times++) {
    expect((await apply()).out).toEndWith(
      "Done: 0 created, 0 changed, 15 as declared; 3 secrets sent again.\n",
    );
  }
  expect(plan.out + done.out).not.toContain("canary");
  expect(await gateway.admin<object>("GET", "/providers/openai")).toMatchObject({
    credential_source: "stored",
  });

  const secret = join(secrets, "bob");
  expect(statSync(secret).mode & 0o777).toBe(0o600);
  const bobs = (await Bun.file(secret).text()).trim();
  const models = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${bobs}` } });
  expect(await models.json()).toMatchObject({ data: [{ id: "coding" }] });

  const before = FILE.replace("gpt-5.1", "gpt-5.2").replace('{ budget_usd: "25.00" }', "null");
  await Bun.write(
    file,
    before
      .replace("name: Zoe, role: manager", "disabled: true")
      .replace("leads: { role: manager", "leads: { role: member"),
  );
  const changed = await apply();
  expect(changed.out).toContain("~ people zoe@example.com\n    disabled: false → true\n");
  expect(changed.out).toContain("~ role-mappings leads\n    role: manager → member\n");
  const { data } = await gateway.admin<{ data: object[] }>("GET", "/people");
  expect(data).toMatchObject([
    { email: "leaver@example.com", disabled: true },
    { email: "zoe@example.com", name: "Zoe", role: "manager", disabled: true },
  ]);
  expect(changed.out).toContain("~ routes coding\n    model: gpt-5.1 → gpt-5.2\n");
  expect(await gateway.admin<object>("GET", "/routes/coding")).toMatchObject({
    examples: ["Write a function"],
  });
});

test("single members of what exists change alone, and only a new one needs its required members", async () => {
  const file = join(ada.home, "single.yaml");
  const put = (path: string, body: object) => gateway.admin("PUT", path, body);
  const url = "http://127.0.0.1:9/hook";
  const to = { kind: "webhook", url, secret: `whsec_${"MDEy".repeat(8)}`, allow_private_network: true };
  await put("/budgets/cb", { on: { kind: "organisation" }, amount_usd: "50", thresholds: [70] });
  await put("/routes/single", { surface: "chat", provider: "echo", model: "echo" });
  await put("/providers/loc", { kind: "openai", credential: "sk-0123456789abcdef" });
  await put("/alerts/fin", { on: ["threshold"], to });
  expect(await tallygate(["alerts"])).toMatchObject({ code: 0, out: expect.stringContaining("fin") });
  expect(await tallygate(["budgets", "set", "cb", "amount_usd=60"])).toMatchObject({ code: 0, error: "" });
  const changes = `routes: { single: { description: X } }
providers: { loc: { enabled: false } }
alerts: { fin: { enabled: false } }
`;
  await Bun.write(
    file,
    `${changes}budgets: { cb: { amount_usd: 70 }, fresh: { period: week } }\nprices: [{ model: m, input: 1 }]`,
  );
  const refused = await tallygate(["apply", file]);
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.error).toContain(
    "single.yaml:4 budgets.fresh: It does not exist yet, and a new one also needs on, amount_usd.",
  );
  expect(refused.error).toContain(
    "single.yaml:5 prices.0: It does not exist yet, and a new one also needs effective_from.",
  );
  await Bun.write(file, changes);
  expect(await tallygate(["apply", file])).toMatchObject({
    ...{ code: 0, error: "", out: expect.stringContaining("Done: 0 created, 3 changed") },
  });
  for (const [path, has] of [
    ["/budgets/cb", { amount_usd: "60", thresholds: [70] }],
    ["/routes/single", { model: "echo", description: "X" }],
    ["/providers/loc", { kind: "openai", credential_source: "stored", enabled: false }],
    ["/alerts/fin", { on: ["threshold"], to: { kind: "webhook", url: "…hook" }, enabled: false }],
  ] as const) {
    expect(await gateway.admin<object>("GET", path)).toMatchObject(has);
  }
});

test("what the gateway refuses is told with its line, and with what was not applied", async () => {
  const file = join(ada.home, "refused.yaml");
  await Bun.write(
    file,
    "routes:\n  lost:\n    surface: chat\n    provider: nobody\n    model: m\nsettings: { hooks: false }",
  );
  const { code, error } = await tallygate(["apply", file]);
  expect(code).toBe(1);
  expect(error).toMatch(
    /refused\.yaml:4 routes\.lost\.provider: .*No provider is named nobody.* 1 after it was not applied/,
  );
  for (const [more, said] of [
    [{ TALLYGATE_URL: "http://127.0.0.1:9" }, "Nothing answers at http://127.0.0.1:9"],
    [{ ADMIN_KEY: "not-the-admin-key-of-it" }, "does not know this key"],
    [{ ADMIN_KEY: "" }, "No admin key found"],
  ] as const) {
    expect(await tallygate(["apply", file], more)).toMatchObject({
      code: 1,
      error: expect.stringContaining(said),
    });
  }
});

test("a key is made, rotated and revoked by its name; the secret is all that goes to standard output", async () => {
  const made = await tallygate([
    "keys",
    "create",
    "eve",
    "--owner",
    "eve@example.com",
    "--routes",
    "echo",
    "--budget-usd",
    "3",
  ]);
  const first = made.out.trim();
  expect(first).toMatch(/^tg_[0-9A-Za-z]{43}$/);
  const status = async (secret: string) =>
    (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })).status;
  const second = (await tallygate(["keys", "rotate", "eve", "--grace", "60"])).out.trim();
  expect([await status(first), await status(second)]).toEqual([200, 200]);
  expect((await tallygate(["keys", "list"])).out).toMatch(
    /eve +eve@example\.com +active +…\w{4} …\w{4} +routes: echo/,
  );
  expect(await tallygate(["keys", "revoke", "eve"])).toMatchObject({ code: 0 });
  expect([await status(first), await status(second)]).toEqual([401, 401]);
  expect(await tallygate(["keys", "revoke", "nobody"])).toMatchObject({
    code: 1,
    error: expect.stringContaining("No key"),
  });
  expect(await tallygate(["keys", "create", "eve"])).toMatchObject({
    code: 1,
    error: expect.stringContaining("taken"),
  });
});

test("every key of a person is revoked at once, and the person and other people's keys stay", async () => {
  const create = async (name: string, owner: string) =>
    (await tallygate(["keys", "create", name, "--owner", owner])).out.trim();
  await gateway.admin("POST", "/people", {
    email: "leaky@example.com",
    budget_usd: "7",
    budget_period: "day",
  });
  const secrets = [
    await create("leaky-laptop", "leaky@example.com"),
    await create("leaky-ci", "leaky@example.com"),
    await create("careful-laptop", "careful@example.com"),
  ];
  expect(await tallygate(["keys", "revoke", "leaky-ci", "--owner", "leaky@example.com"])).toMatchObject({
    code: 2,
  });
  expect(await tallygate(["keys", "revoke", "--owner", "leaky@example.com"])).toMatchObject({ code: 0 });
  const found = secrets.map(
    async (secret) =>
      (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })).status,
  );
  expect(await Promise.all(found)).toEqual([401, 401, 200]);
  expect((await tallygate(["people", "list"])).out).toMatch(/^leaky@example\.com +leaky +member +\$7 a day/m);
  expect(await tallygate(["keys", "revoke", "--owner", "leaky@example.com"])).toMatchObject({
    code: 1,
    error: expect.stringContaining("no key that is not revoked"),
  });
});

test("an export has every record of its filter once, however many there are, and no formula", async () => {
  const call = {
    method: "POST",
    headers: { "x-gateway-key": gateway.secret, "x-session-id": "exported", "x-tags": "=1+1,more" },
    body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "canary" }] }),
  };
  expect((await fetch(`${gateway.url}/v1/chat/completions`, call)).status).toBe(200);
  await gateway.records("exported");
  await gateway.sql`insert into requests
    select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).*
    from requests r, generate_series(1, 1100) where session = 'exported'`;
  const exported = await tallygate(["export", "--filter", "tag==1+1", "--from", "2026-01-01"]);
  const records = exported.out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect([records.length, new Set(records.map(({ id }) => id)).size]).toEqual([1101, 1101]);
  expect(records[0]).toMatchObject({ session: "exported", tags: ["=1+1", "more"], model: "echo" });
  const csv = (await tallygate(["export", "--format", "csv", "--filter", "session=exported"])).out;
  expect(csv.split("\r\n")).toHaveLength(1103);
  expect(csv).toContain(",'=1+1 more,");
  expect(csv).not.toContain("canary");
  const into = async (output: string) => {
    const program = join(import.meta.dir, "../../gateway/cli/tallygate.ts");
    const words = [
      "sh",
      "-c",
      `"$0" "$1" export --filter session=exported ${output}`,
      process.execPath,
      program,
    ];
    const shell = Bun.spawn(words, {
      env: { ...env, PATH: process.env["PATH"] ?? "" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    return await new Response(shell.stderr).text();
  };
  const beginning = await into("| head -c 1");
  expect(beginning).toMatch(/^(tallygate: [\d,]+ bytes\n)*$/);
  const done =
    beginning
      .match(/[\d,]+/g)
      ?.at(-1)
      ?.replaceAll(",", "") ?? "0";
  expect(Number(done)).toBeLessThan(exported.out.length);
  if (process.platform === "linux")
    expect(await into("> /dev/full")).toMatch(/^(tallygate: .*\n)*The output cannot be written: ENOSPC.*\n$/);
  expect(await tallygate(["export", "--filter", "nonsense=1"])).toMatchObject({
    code: 1,
    error: expect.stringContaining("nonsense"),
  });
});

test("what cannot be understood has status 2, and help has 0", async () => {
  const help = await tallygate(["--help"]);
  expect([help.code, help.out]).toEqual([0, expect.stringMatching(/--version[\s\S]*^ {2}start\b/m)]);
  expect((await tallygate(["--version"])).out).toBe(`${VERSION}\n`);
  expect(await tallygate(["start", "--help"])).toMatchObject({
    code: 0,
    out: expect.stringContaining("DATABASE_URL"),
  });
  expect((await tallygate(["help", "run"])).out).toContain("Claude Code, Codex, Gemini CLI");
  for (const words of [
    ["bogus"],
    ["keys", "create"],
    ["pr", "stamp", "--number", "x"],
    ["run"],
    ...casesOf(BAD_OPTIONS, 3),
  ]) {
    expect(await tallygate(words)).toMatchObject({ code: 2, out: "" });
  }
});

const BAD_OPTIONS = [
  ["session", "--id", "two words"],
  ["run", "--session", "two words", "--", "true"],
  ["pr", "stamp", "--session", "x".repeat(65)],
  ["pr", "stamp", "--via", "mail"],
  ["review", "stamp", "--review", "latest"],
  ["backfill", "--since", "yesterday"],
  ["keys", "revoke"],
  ["export", "--filter", "owner"],
  ["export", "--from", "yesterday"],
  ["export", "--format", "xlsx"],
];

test("backfill has what the App sees read again, back to a day", async () => {
  const none = await tallygate(["backfill"]);
  expect(none).toMatchObject({ code: 0, out: "The GitHub App has no repository yet.\n" });
  await gateway.sql`insert into repositories (id, full_name, former_names, changed_at) values (77, 'octo-org/early', '[]', now())`;
  await gateway.sql`insert into github_passes (repository_id, installation_id, due_at) values (77, 1, '2030-01-01')`;
  expect(await tallygate(["backfill", "--since", "2026-01-31", "--repo", "octo-org/early"])).toMatchObject({
    code: 0,
    out: "1 repository is read again, back to 2026-01-31.\n",
  });
  const [pass] = await gateway.sql`select stop_at, due_at from github_passes where repository_id = 77`;
  expect(new Date(pass?.["stop_at"]).toISOString()).toBe("2026-01-31T00:00:00.000Z");
  expect(new Date(pass?.["due_at"]).getTime()).toBeLessThanOrEqual(Date.now());
  expect(await tallygate(["backfill", "--repo", "octo-org/nowhere"])).toMatchObject({
    code: 1,
    error: expect.stringContaining("(404)"),
  });
});

test("who reads only the beginning breaks nothing", async () => {
  const doctor = [...TALLYGATE, "doctor", "--local"].map((word) => `'${word}'`).join(" ");
  const { out, error } = await ada.run(["sh", "-c", `(${doctor}; echo "status $?" >&2) | head -n 1`], env);
  expect(out).toContain("is ready");
  // Nothing but the status, whatever doctor finds.
  expect(error).toMatch(/^status [01]\n$/);
});

test("doctor follows a call and a pull request, and says what is wrong until nothing is", async () => {
  const doctor = (more: Record<string, string> = {}) => tallygate(["doctor", "--app-url", app.url], more);
  await ada.git("checkout", "--quiet", "-b", "task");
  await gateway.admin("PATCH", "/settings", { pull_request_stamping: false });
  const before = await doctor();
  expect(before.code).toBe(1);
  expect(before.out).toContain("✓ The call is recorded: ok, USD ");
  expect(before.out).toContain("✗ Pull-request stamping is off");
  await gateway.admin("PATCH", "/settings", { pull_request_stamping: true });

  const session = (await tallygate(["session"])).out.trim();
  const request = await github.story.openPullRequest({
    repository,
    headRef: "task",
    body: "`Gateway-Session: x`",
  });
  expect((await doctor()).out).toMatch(/✗ .* is not stamped\.\n.*line starts with something else/);
  expect(await tallygate(["pr", "stamp"])).toMatchObject({ code: 0 });
  expect((await doctor()).out).toContain(`✓ http`);
  await github.story.merge(request);
  await until(
    async () => (await gateway.sql`select 1 from pull_requests where link = 'unknown_session'`).length === 1,
  );
  expect((await doctor()).out).toContain("✗ The gateway has it as unknown_session");

  await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.secret}`, "x-session-id": session },
    body: '{"model":"echo","messages":[{"role":"user","content":"Hello"}]}',
  });
  await until(
    async () => (await gateway.sql`select 1 from pull_requests where link = 'joined'`).length === 1,
  );
  const after = await doctor();
  expect([after.code, after.out]).toEqual([0, expect.stringContaining("No problems found.")]);

  const mistakes = [
    [{ TALLYGATE_KEY: "tg_unknown" }, "got status 401"],
    [{ TALLYGATE_URL: "http://127.0.0.1:9" }, "does not answer"],
    [{ ADMIN_KEY: "not-the-admin-key-of-it" }, "This gateway does not accept the admin key"],
    [{ GITHUB_TOKEN: "ghp_unknown" }, "the token is not valid"],
  ] as const;
  const made = casesOf(mistakes, 2);
  const told = await Promise.all(made.map(([more]) => doctor(more)));
  for (const [at, [, said]] of made.entries()) {
    expect(told[at]).toMatchObject({ code: 1, out: expect.stringContaining(said) });
  }

  const report = await tallygate(["report", "cost-per-merged-pr", "--filter", `session=${session}`]);
  expect(report.out).toMatch(/octo-org\/shop +0\.0000\d+ +0\.0000\d+ +1 +1 +0/);
  const csv = await tallygate(["report", "cost-per-merged-pr", "--csv"]);
  expect(csv.out).toStartWith("repository,cost_per_merged_pr,");
});

test("the action stamps what the commits name, or the session it is given, and else warns", async () => {
  const place = join(import.meta.dir, "../../.github/actions/stamp");
  const run = async (more: Record<string, string>) => {
    const output = join(ada.home, `output-${Bun.randomUUIDv7()}`);
    const action = {
      GITHUB_ACTION_PATH: place,
      GITHUB_SERVER_URL: github.url,
      GITHUB_REPOSITORY: repository.fullName,
      GITHUB_TOKEN: ada.token,
      GITHUB_OUTPUT: output,
      SESSION: "",
      REQUIRED: "false",
      ...more,
    };
    const ran = await ada.run([join(place, "stamp")], action);
    return { ...ran, outputs: existsSync(output) ? await Bun.file(output).text() : "" };
  };
  const sha = "a".repeat(40);
  const commits = [{ sha, message: "Mend it\n\nGateway-Session: gs_trailer" }];
  const named = await github.story.openPullRequest({ repository, headRef: "named", commits });
  expect(await run({ NUMBER: String(named.number) })).toMatchObject({
    code: 0,
    outputs: "session=gs_trailer\n",
  });
  expect(named.body).toBe("Gateway-Session: gs_trailer");

  const bare = await github.story.openPullRequest({ repository, headRef: "bare" });
  const NUMBER = String(bare.number);
  expect(await run({ NUMBER })).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^::warning::This branch's session is unknown/),
    outputs: "",
  });
  expect(await run({ NUMBER, REQUIRED: "true" })).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^::error::/),
  });
  expect(await run({ NUMBER: "" })).toMatchObject({
    code: 0,
    out: expect.stringContaining("does not run for a pull request"),
  });
  expect(await run({ NUMBER, SESSION: "ci-7" })).toMatchObject({ code: 0, outputs: "session=ci-7\n" });
  expect(bare.body).toBe("Gateway-Session: ci-7");
});
