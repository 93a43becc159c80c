import { appView, installationView } from "./app-views.ts";
import {
  type Answer,
  type Answerer,
  type Asked,
  type Backstage,
  found,
  list,
  Missing,
  NOT_FOUND,
  ok,
  repositoryOf,
  text,
} from "./asked.ts";
import { attemptDetailView, attemptView } from "./deliveries.ts";
import { reviewQuery } from "./graphql.ts";
import type { Operation } from "./operations.ts";
import { commitView, pullRequestSimpleView, pullRequestView, reviewView } from "./pull-request-views.ts";
import { fullRepositoryView, ownAccountView, repositoryView } from "./repository-views.ts";
import { keyOf, type PullRequest, personAccount } from "./world.ts";
import { WRITTEN_ANSWERS } from "./written-answers.ts";

const APP: Partial<Record<Operation, Answerer>> = {
  "GET /app": (_, { world }) => ok(appView(world.app)),
  "GET /app/installations": (_, { world }) =>
    list(world.installations.filter((it) => !it.removed).map((it) => installationView(it, world.app))),
  "GET /app/installations/{installation_id}": ({ parameters }, { world }) => {
    const id = Number(parameters["installation_id"]);
    return ok(
      installationView(found(world.installations.find((it) => it.id === id && !it.removed)), world.app),
    );
  },
  "POST /app/installations/{installation_id}/access_tokens": ({ parameters }, { world, tokens }) => {
    const id = Number(parameters["installation_id"]);
    const installation = found(world.installations.find((it) => it.id === id && !it.removed));
    if (installation.suspendedAt !== null)
      return ok({ message: "This installation has been suspended" }, 403);
    return ok({ ...tokens.issue(installation), permissions: installation.permissions }, 201);
  },
  "PATCH /app/hook/config": ({ body }, { world }) => {
    const secret = text(body["secret"]);
    if (secret !== null) world.app.webhookSecret = secret;
    return ok({ url: world.app.hookUrl ?? "", content_type: "json", insecure_ssl: "0", secret: "********" });
  },
  "GET /app/hook/deliveries": ({ query }, { deliveries }) => {
    const perPage = Number(query.get("per_page") ?? 30);
    const { page, next } = deliveries.list({ perPage, cursor: query.get("cursor") });
    return { status: 200, body: page.map(attemptView), next };
  },
  "GET /app/hook/deliveries/{delivery_id}": ({ parameters }, { deliveries }) =>
    ok(
      attemptDetailView(found(deliveries.attempts.find((it) => it.id === Number(parameters["delivery_id"])))),
    ),
  "POST /app/hook/deliveries/{delivery_id}/attempts": ({ parameters }, { deliveries }) => {
    const id = Number(parameters["delivery_id"]);
    if (!deliveries.mayRepeat(id)) return ok({ message: "Validation Failed" }, 422);
    // GitHub answers at once and delivers afterwards.
    void found(deliveries.again(id));
    return ok({}, 202);
  },
  "POST /app-manifests/{code}/conversions": ({ parameters }, { convert }) => {
    const it = found(convert(parameters["code"] ?? ""));
    const secrets = { client_secret: it.clientSecret, webhook_secret: it.webhookSecret, pem: it.privateKey };
    return ok({ ...appView(it), ...secrets }, 201);
  },
  "GET /installation/repositories": ({ caller }) => {
    if (caller.kind !== "installation") throw new Missing();
    const { repositories } = caller.installation;
    return list(repositories.map(repositoryView), (page) => ({
      total_count: repositories.length,
      repositories: page,
    }));
  },
  "GET /user": ({ caller }) =>
    ok(ownAccountView(personAccount(caller.kind === "person" ? caller.login : "nobody"))),
};

function pullRequestOf(asked: Asked, backstage: Backstage): PullRequest {
  const number = Number(asked.parameters["pull_number"]);
  const found = backstage.world.pullRequests.get(keyOf(repositoryOf(asked, backstage), number));
  if (!found) throw new Missing();
  return found;
}

const PULL_REQUESTS: Partial<Record<Operation, Answerer>> = {
  "GET /repos/{owner}/{repo}": (asked, backstage) => ok(fullRepositoryView(repositoryOf(asked, backstage))),
  "GET /repos/{owner}/{repo}/pulls": (asked, backstage) => {
    const { query } = asked;
    const repository = repositoryOf(asked, backstage);
    const state = query.get("state") ?? "open";
    const head = query.get("head")?.split(":").at(-1);
    const time = query.get("sort") === "updated" ? "updatedAt" : "createdAt";
    const sign = query.get("direction") === "asc" ? 1 : -1;
    const all = [...backstage.world.pullRequests.values()]
      .filter((it) => it.repository === repository)
      .filter((it) => state === "all" || (state === "open") === (it.closedAt === null))
      .filter((it) => head === undefined || it.headRef === head)
      .sort((a, b) => sign * (a[time] < b[time] ? -1 : a[time] > b[time] ? 1 : a.number - b.number));
    return list(all, (page) => (page as PullRequest[]).map((it) => pullRequestSimpleView(it, asked.api)));
  },
  "POST /repos/{owner}/{repo}/pulls": async (asked, backstage) => {
    const { body } = asked;
    const made = await backstage.story.openPullRequest({
      repository: repositoryOf(asked, backstage),
      title: text(body["title"]) ?? "",
      body: text(body["body"]),
      headRef: text(body["head"])?.split(":").at(-1) ?? "head",
    });
    return ok(pullRequestView(made, asked.api), 201);
  },
  "GET /repos/{owner}/{repo}/pulls/{pull_number}": (asked, backstage) =>
    ok(pullRequestView(pullRequestOf(asked, backstage), asked.api)),
  "PATCH /repos/{owner}/{repo}/pulls/{pull_number}": async (asked, backstage) => {
    const it = pullRequestOf(asked, backstage);
    if (typeof asked.body["title"] === "string") it.title = asked.body["title"];
    if ("body" in asked.body) await backstage.story.editBody(it, text(asked.body["body"]));
    if (asked.body["state"] === "closed") await backstage.story.close(it);
    return ok(pullRequestView(it, asked.api));
  },
  "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge": async (asked, backstage) => {
    const it = pullRequestOf(asked, backstage);
    await backstage.story.merge(it);
    return ok({ sha: it.mergeCommitSha, merged: true, message: "Pull Request successfully merged" });
  },
  "GET /repos/{owner}/{repo}/pulls/{pull_number}/commits": (asked, backstage) => {
    const of = pullRequestOf(asked, backstage);
    // GitHub lists 250 at most.
    return list(of.commits.slice(0, 250).map((it) => commitView(it, of)));
  },
  "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews": (asked, backstage) => {
    const of = pullRequestOf(asked, backstage);
    return list(of.reviews.map((it) => reviewView(it, of)));
  },
  "PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}": async (asked, backstage) => {
    const of = pullRequestOf(asked, backstage);
    const it = found(of.reviews.find(({ id }) => id === Number(asked.parameters["review_id"])));
    await backstage.story.editReview(it, of, text(asked.body["body"]) ?? "");
    return ok(reviewView(it, of));
  },
};

const ANSWERERS: Partial<Record<Operation, Answerer>> = {
  "POST /graphql": reviewQuery,
  ...APP,
  ...PULL_REQUESTS,
  ...WRITTEN_ANSWERS,
};

/** What GitHub answers to a caller who may ask. */
export async function answerTo(operation: Operation, asked: Asked, backstage: Backstage): Promise<Answer> {
  try {
    return (await ANSWERERS[operation]?.(asked, backstage)) ?? NOT_FOUND;
  } catch (error) {
    if (error instanceof Missing) return NOT_FOUND;
    throw error;
  }
}
