import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { startGithubApp } from "#github-app/app.ts";
import { systemClock } from "#shared/clock.ts";
import { readGithubAppConfig } from "#shared/github-app-config.ts";
import { atEnd } from "#test/support/at-end.ts";
import { type Developer, developer } from "#test/support/checkout.ts";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { PullRequest, Repository } from "#test/support/fake-github/world.ts";
import { casesOf, longTest } from "#test/support/fault-run.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { keptLog } from "#test/support/github-app.ts";
import { freePort } from "#test/support/ports.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";
import { runAction, type StepRun } from "./workflow.ts";

// The action's own shell, against a gateway and a GitHub App as they are.

const ACTION = join(import.meta.dir, "../../.github/actions/report");
const WEBHOOK_SECRET = "a secret of more than sixteen characters";

let github: FakeGithub;
let repository: Repository;
let gateway: WiredGateway;
let runner: Developer;
let workflowToken: string;
let reader: string;

beforeAll(async () => {
  gateway = await wiredGateway({ chat: "http://127.0.0.1:9/v1", messages: "http://127.0.0.1:9" });
  github = startFakeGithub();
  repository = github.story.addRepository("octo-org/shop");
  github.app.webhookSecret = WEBHOOK_SECRET;
  const port = freePort();
  const settings = { DATABASE_URL: gateway.databaseUrl, GITHUB_APP_PORT: String(port), WEBHOOK_SECRET };
  const config = readGithubAppConfig(settings);
  const app = await startGithubApp({ config, clock: systemClock, log: keptLog().log, writeMs: 0 });
  app.server.listen({ hostname: "127.0.0.1", port });
  atEnd(() => app.stop());
  github.deliverTo(`http://127.0.0.1:${port}/api/github/webhooks`);
  await gateway.admin("PATCH", "/settings", { pull_request_stamping: true });
  const permissions = { metadata: "read", pull_requests: "write" };
  const installation = await github.story.install({ repositories: [repository], permissions });
  workflowToken = github.installationToken(installation);
  runner = await developer(github, repository.fullName);
  const token = { name: "ci", scopes: ["pull_requests"], repository: "octo-org/shop" };
  reader = (await gateway.admin<{ secret: string }>("POST", "/tokens", token)).secret;
});

afterAll(() => {
  expect(github.faults()).toEqual([]);
});

/** The step in a workflow that runs for `pull`, or for none. */
function step(pull: PullRequest | null, inputs: Record<string, string>, env = {}): Promise<StepRun> {
  const context = {
    "github.token": workflowToken,
    "github.event.pull_request.number": pull === null ? "" : String(pull.number),
    "github.event.pull_request.merged == true": String(pull?.mergedAt != null),
  };
  const runs = { GITHUB_SERVER_URL: github.url, GITHUB_REPOSITORY: repository.fullName, ...env };
  return runAction(ACTION, { machine: runner, context, env: runs }, { url: gateway.url, ...inputs });
}

/** The gateway behind an address; the merge is delivered only after the first answer there. */
function merging(pull: PullRequest): string {
  let isDelivered = false;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const answer = await fetch(`${gateway.url}${pathname}${search}`, { headers: request.headers });
      const text = await answer.text();
      if (pathname.startsWith("/admin/v1/pull-requests/") && !isDelivered) {
        isDelivered = true;
        await github.story.merge(pull);
      }
      return new Response(text, { status: answer.status });
    },
  });
  atEnd(() => server.stop(true));
  return server.url.origin;
}

async function call(headers: Record<string, string>): Promise<void> {
  const answer = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({
      model: "echo",
      max_tokens: 9000,
      messages: [{ role: "user", content: "word ".repeat(9000) }],
    }),
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
}

test("a merge's cost goes to the summary, the outputs and one comment; above the budget the job fails", async () => {
  const pull = await github.story.openPullRequest({ repository, body: "Gateway-Session: gs_of-the-merge" });
  github.world.comments.push({
    id: github.world.newId(),
    repository,
    number: pull.number,
    body: "<!-- tallygate:report -->\nSomebody's own",
    author: { id: 77, login: "mallory", type: "User" },
    createdAt: github.world.now(),
    updatedAt: github.world.now(),
  });
  const comments = () => github.world.comments.map(({ body }) => body);
  await call({ authorization: `Bearer ${gateway.secret}`, "x-session-id": "gs_of-the-merge" });
  await gateway.records("gs_of-the-merge");
  await until(
    async () => (await gateway.sql`select 1 from pull_requests where number = ${pull.number}`).length === 1,
  );

  const open = await step(pull, { key: reader, comment: "true", "max-usd": "1000" });
  expect(open).toMatchObject({ code: 0, out: expect.stringContaining("so far: $") });
  expect(comments()).toEqual([
    "<!-- tallygate:report -->\nSomebody's own",
    `<!-- tallygate:report -->\n${open.summary}`,
  ]);

  await github.story.merge(pull, { silent: true });
  const url = merging(pull);
  const merged = await step(pull, { url, key: reader, comment: "true", "max-usd": "0.000001" });
  const [{ usd } = { usd: "" }] = await gateway.sql<{ usd: string }[]>`
    select trim_scale(sum(cost_usd))::text as usd from requests where session = 'gs_of-the-merge'`;
  expect(merged.outputs).toEqual({ session: "gs_of-the-merge", "cost-usd": usd, "lower-bound": "false" });
  expect(merged.summary).toMatch(
    /^\*\*AI cost of octo-org\/shop#1: \$0\.\d+\.\*\* 1 call of session `gs_of-the-merge`\. That is above the budget of /,
  );
  expect(merged).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^::error::AI cost of octo-org\/shop#1/),
  });
  expect(comments()).toEqual([
    "<!-- tallygate:report -->\nSomebody's own",
    `<!-- tallygate:report -->\n${merged.summary}`,
  ]);
  const within = await step(pull, { key: reader, "max-usd": usd });
  expect(within).toMatchObject({
    code: 0,
    summary: expect.stringContaining("That is within the budget of "),
  });
  const untold = await step(pull, { key: reader, comment: "true", token: "ghs_unknown" });
  expect(untold).toMatchObject({
    code: 0,
    out: expect.stringMatching(/::warning::.*the token is not valid/),
    summary: expect.stringContaining("AI cost"),
  });
});

test("an unknown cost is neither zero nor above a budget, and says what to do", async () => {
  const pull = await github.story.openPullRequest({ repository, body: "No session", headRef: "bare" });
  await until(
    async () => (await gateway.sql`select 1 from pull_requests where number = ${pull.number}`).length === 1,
  );
  const { code, outputs, summary } = await step(pull, { key: reader, "max-usd": "0" });
  expect({ code, outputs }).toEqual({
    code: 0,
    outputs: { session: "", "cost-usd": "", "lower-bound": "false" },
  });
  expect(summary).toStartWith(
    "**The AI cost of octo-org/shop#2 is not known.** Add one line `Gateway-Session:",
  );
  expect(summary).toEndWith("The budget of $0.00 is not checked.");
});

test("the session that a pull request from outside names is not told in public, before the merge either", async () => {
  const pull = await github.story.openPullRequest({
    ...{ repository, body: "Gateway-Session: gs_of-the-merge", authorAssociation: "NONE" },
    headRepository: github.story.addRepository("mallory/shop"),
  });
  await until(
    async () => (await gateway.sql`select 1 from pull_requests where number = ${pull.number}`).length === 1,
  );
  const { code, outputs, summary } = await step(pull, { key: reader });
  expect({ code, cost: outputs["cost-usd"] }).toEqual({ code: 0, cost: "" });
  expect(summary).toMatch(
    /^\*\*The AI cost of octo-org\/shop#3 is not known\.\*\* Its author comes from outside/,
  );
});

const UNTOLD = [
  ["no key, as a fork's workflow", { key: "" }, "The input `key` is empty. Workflows of pull requests"],
  ["a key that the gateway does not know", { key: "tga_unknown" }, "The gateway does not know this key"],
  ["a client key", {}, "The gateway does not know this key"],
  ["a gateway that is away", { key: ADMIN_KEY, url: "http://127.0.0.1:9" }, "Nothing answers at"],
  ["an input that is no amount", { key: ADMIN_KEY, "max-usd": "five" }, "error: option '--max-usd"],
] as const;

test.each(casesOf(UNTOLD))("with %s, it warns, and fails where it is required", async (_, inputs, said) => {
  const [pull = null] = github.world.pullRequests.values();
  const all = { key: gateway.secret, ...inputs };
  const warned = await step(pull, all);
  expect(warned).toMatchObject({ code: 0, out: expect.stringContaining(`::warning::${said}`), summary: "" });
  const failed = await step(pull, { ...all, required: "true" });
  expect(failed).toMatchObject({ code: 1, out: expect.stringContaining(`::error::${said}`), summary: "" });
});

longTest("clients/stamping (a run), cli/agents (the variables of a shell)")(
  "the steps that follow are metered in the session that the pull request names",
  async () => {
    const [pull = null] = github.world.pullRequests.values();
    const set = await step(pull, { mode: "session", key: gateway.secret });
    expect(set).toMatchObject({ code: 0, outputs: { session: "gs_of-the-merge" } });
    expect(set.variables).toMatchObject({
      GATEWAY_SESSION_ID: "gs_of-the-merge",
      TALLYGATE_URL: gateway.url,
      ANTHROPIC_BASE_URL: gateway.url,
      GOOGLE_GEMINI_BASE_URL: gateway.url,
      COPILOT_PROVIDER_BASE_URL: `${gateway.url}/v1`,
    });
    // The runner takes this line as a command, and hides the key in all that follows.
    expect((set.out + set.error).replace(`::add-mask::${gateway.secret}\n`, "")).not.toContain(
      gateway.secret,
    );

    const { ANTHROPIC_AUTH_TOKEN = "", ANTHROPIC_CUSTOM_HEADERS = "" } = set.variables;
    await call({
      authorization: `Bearer ${ANTHROPIC_AUTH_TOKEN}`,
      ...Object.fromEntries(ANTHROPIC_CUSTOM_HEADERS.split("\n").map((line) => line.split(": "))),
    });
    await gateway.records("gs_of-the-merge", 2);

    const follows = { ...set.variables, PATH: [...set.path, runner.env["PATH"]].join(":") };
    const shown = await runner.run(
      ["tallygate", "run", "--", "sh", "-c", "echo $GATEWAY_SESSION_ID"],
      follows,
    );
    expect(shown).toMatchObject({ code: 0, out: "gs_of-the-merge\n" });
  },
);

longTest("clients/stamping (a run under a session that was named)")(
  "without a pull request, the session is the given one, or a new one",
  async () => {
    const session = async (inputs: Record<string, string>, env = {}) => {
      const set = await step(null, { mode: "session", key: gateway.secret, ...inputs }, env);
      expect(set.variables["GATEWAY_SESSION_ID"]).toBe(set.outputs["session"] ?? "");
      return set.outputs["session"];
    };
    expect(await session({ session: "ci-7" }, { GATEWAY_SESSION_ID: "gs_before" })).toBe("ci-7");
    expect(await session({}, { GATEWAY_SESSION_ID: "gs_before" })).toBe("gs_before");
    expect(await session({})).toMatch(/^gs_[0-9a-z]{26}$/);
  },
);

test("no value of a header sets a variable of its own", async () => {
  const headers = "x-tags: a\nx-more: b\nEVIL<<END\n1\nEND";
  const set = await step(
    null,
    { mode: "session", key: gateway.secret },
    { ANTHROPIC_CUSTOM_HEADERS: headers },
  );
  expect(Object.keys(set.variables)).not.toContain("EVIL");
  expect(set.variables["ANTHROPIC_CUSTOM_HEADERS"]).toStartWith(`${headers}\nx-session-id: gs_`);
});
