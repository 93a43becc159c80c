import { afterAll, beforeAll, expect, test } from "bun:test";
import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/rest";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";

let github: FakeGithub;
let hook: ReturnType<typeof Bun.serve>;
const received: { event: string; status: number }[] = [];

beforeAll(() => {
  github = startFakeGithub();
  hook = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      received.push({ event: request.headers.get("x-github-event") ?? "", status: 202 });
      return new Response(null, { status: 202 });
    },
  });
  github.deliverTo(`http://127.0.0.1:${hook.port}/`);
});
afterAll(async () => {
  await github.stop();
  await hook.stop(true);
});

test("the stand-in for GitHub answers and delivers as GitHub's own descriptions say", async () => {
  const { story, app } = github;
  const repository = story.addRepository("octo/one");
  const permissions = { metadata: "read", pull_requests: "write", checks: "write", issues: "write" };
  const installation = await story.install({ repositories: [repository], permissions });
  const pull = await story.openPullRequest({ repository, body: "x", headRepository: "deleted" });
  const review = await story.submitReview(pull, { body: "fine" });
  await story.editReview(review, pull, "finer");
  await story.dismissReview(review, pull);
  await story.editBody(pull, "y");
  await story.push(pull, { sha: "a".repeat(40), message: "more" });
  await story.merge(pull);
  await story.rename(repository, "octo/two");
  const added = story.addRepository("octo/three");
  await story.addToInstallation(installation, [added]);
  await story.removeFromInstallation(installation, [added]);
  await story.suspend(installation);
  await story.unsuspend(installation);

  const auth = { appId: app.id, privateKey: app.privateKey, installationId: installation.id };
  const of = { owner: "octo", repo: "two" };
  const octokit = new Octokit({ authStrategy: createAppAuth, auth, baseUrl: github.url });
  const { data: made } = await octokit.rest.pulls.create({ ...of, title: "t", head: "h", base: "main" });
  await octokit.rest.pulls.update({ ...of, pull_number: made.number, body: "stamped" });
  expect((await octokit.paginate(octokit.rest.pulls.list, { ...of, state: "all", per_page: 1 })).length).toBe(
    2,
  );
  expect((await octokit.rest.pulls.get({ ...of, pull_number: 1 })).data).toMatchObject({ merged: true });
  await octokit.rest.pulls.listCommits({ ...of, pull_number: 1 });
  await octokit.rest.pulls.listReviews({ ...of, pull_number: 1 });
  const { data: comment } = await octokit.rest.issues.createComment({ ...of, issue_number: 1, body: "c" });
  await octokit.rest.issues.updateComment({ ...of, comment_id: comment.id, body: "d" });
  expect((await octokit.rest.issues.listComments({ ...of, issue_number: 1 })).data).toMatchObject([
    { body: "d" },
  ]);
  const { data: issue } = await octokit.rest.issues.create({ ...of, title: "digest" });
  await octokit.rest.issues.update({ ...of, issue_number: issue.number, body: "b" });
  await octokit.rest.issues.listForRepo(of);
  const check = { ...of, name: "Tallygate", head_sha: "c".repeat(40) };
  const { data: run } = await octokit.rest.checks.create(check);
  await octokit.rest.checks.update({ ...of, check_run_id: run.id, conclusion: "neutral" });
  expect((await octokit.rest.checks.listForRef({ ...of, ref: check.head_sha })).data.total_count).toBe(1);
  await octokit.rest.repos.get(of);
  await octokit.rest.apps.listReposAccessibleToInstallation();

  const asApp = new Octokit({
    authStrategy: createAppAuth,
    auth: { appId: app.id, privateKey: app.privateKey },
    baseUrl: `${github.url}/api/v3`,
  });
  await asApp.rest.apps.getAuthenticated();
  await asApp.rest.apps.listInstallations();
  await asApp.rest.apps.getInstallation({ installation_id: installation.id });
  const { data: attempts } = await asApp.rest.apps.listWebhookDeliveries();
  await asApp.rest.apps.getWebhookDelivery({ delivery_id: attempts[0]?.id ?? 0 });
  await asApp.rest.apps.redeliverWebhookDelivery({ delivery_id: attempts[0]?.id ?? 0 });
  const person = new Octokit({ auth: github.personalToken("octocat"), baseUrl: github.url });
  await person.rest.users.getAuthenticated();
  await person.rest.pulls.merge({ ...of, pull_number: made.number });

  expect(github.faults()).toEqual([]);
  expect(received.length).toBe(github.deliveries.attempts.length);
});
