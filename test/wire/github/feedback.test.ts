import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PullRequestPage } from "#shared/admin/pull-requests.ts";
import type { Result } from "#shared/report.ts";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import { WEBHOOK_SECRET } from "#test/support/github-app.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { freePort, untilAnswers } from "#test/support/ports.ts";
import { until } from "#test/support/until.ts";

const MAIN = join(import.meta.dir, "../../../github-app/main.ts");
const dataDir = mkdtempSync(join(tmpdir(), "tallygate-feedback-"));
let gateway: LocalGateway;
let github: FakeGithub;
let app: Bun.Subprocess;

beforeAll(async () => {
  gateway = await localGateway({ dataDir });
  github = startFakeGithub();
  github.app.webhookSecret = WEBHOOK_SECRET;
  const port = freePort();
  app = Bun.spawn([process.execPath, MAIN], {
    env: {
      PATH: "/usr/bin:/bin",
      DATABASE_URL: gateway.databaseUrl,
      GITHUB_APP_PORT: String(port),
      WEBHOOK_SECRET,
      APP_ID: String(github.app.id),
      PRIVATE_KEY: github.app.privateKey,
      GHE_HOST: github.host,
      GHE_PROTOCOL: "http",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await untilAnswers(`http://127.0.0.1:${port}/readyz`);
  github.deliverTo(`http://127.0.0.1:${port}/api/github/webhooks`);
});
afterAll(async () => {
  app.kill();
  await app.exited;
  await github.stop();
  await gateway.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

test("from a call to the check run, the comment and the report: one cost, as administrators switched it on", async () => {
  await gateway.admin("PATCH", "/settings", {
    pull_request_stamping: true,
    pull_request_check: true,
    pull_request_comment: true,
  });
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "ada", owner: "ada" });
  const repository = github.story.addRepository("acme/api", { private: true });
  await github.story.install({
    repositories: [repository],
    permissions: { metadata: "read", pull_requests: "write", checks: "write" },
  });
  const pull = await github.story.openPullRequest({ repository, body: "Gateway-Session: task-42" });
  const check = await until(() => github.world.checkRuns[0]);
  expect(check.output.title).toBe("Unknown session");

  for (let calls = 0; calls < 3; calls++) {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "x-session-id": "task-42" },
      body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "word ".repeat(4000) }] }),
    });
    expect(answer.status).toBe(200);
    await answer.text();
  }
  await until(() => (check.output.title === "Stamped" ? true : undefined));
  await github.story.merge(pull);
  const comment = await until(() => github.world.comments[0]);

  const page = await gateway.admin<PullRequestPage>("GET", `/pull-requests/${repository.id}-${pull.number}`);
  expect(page).toMatchObject({ link: "joined", session_requests: 3, findings: [], remedy: null });
  const { session_cost_usd } = page;
  const report = await gateway.admin<Result>("POST", "/../../v1/reports/query", {
    spec: {
      source: "outcomes",
      dimensions: [],
      measures: ["cost_usd", "cost_per_merged_pr"],
      filters: {},
      range: "7d",
      compare: "none",
      view: "table",
    },
  });
  expect(report.total.current).toEqual({
    cost_usd: Number(session_cost_usd),
    cost_per_merged_pr: Number(session_cost_usd),
  });
  const shown = Number(/: \$([\d.]+)\*\* \(3 calls of session `task-42`\)/.exec(comment.body)?.[1]);
  expect(shown).toBeGreaterThan(0);
  expect(Math.abs(shown - Number(session_cost_usd))).toBeLessThanOrEqual(0.00005);
  expect(page.shown_at_github.map(({ kind, failure }) => [kind, failure])).toEqual([
    ["check", null],
    ["comment", null],
  ]);
  expect(github.faults()).toEqual([]);
});
