import { checkRunView, commentView, issueView } from "./app-views.ts";
import { type Answerer, type Asked, found, list, ok, repositoryOf, text } from "./asked.ts";
import type { Operation } from "./operations.ts";
import { keyOf, personAccount, type World } from "./world.ts";

const WRITTEN: Partial<Record<Operation, Answerer>> = {
  "GET /repos/{owner}/{repo}/issues": (asked, backstage) => {
    const repository = repositoryOf(asked, backstage);
    const all = [...backstage.world.issues.values()].filter((it) => it.repository === repository);
    return list(all.map((it) => issueView(it, backstage.world.app)));
  },
  "POST /repos/{owner}/{repo}/issues": (asked, backstage) => {
    const { world } = backstage;
    const repository = repositoryOf(asked, backstage);
    const at = world.now();
    const labels = Array.isArray(asked.body["labels"]) ? asked.body["labels"].map(String) : [];
    const made = {
      id: world.newId(),
      repository,
      number: ++repository.lastNumber,
      title: text(asked.body["title"]) ?? "",
      body: text(asked.body["body"]) ?? "",
      state: "open" as const,
      labels,
      createdAt: at,
      updatedAt: at,
    };
    world.issues.set(keyOf(repository, made.number), made);
    return ok(issueView(made, world.app), 201);
  },
  "PATCH /repos/{owner}/{repo}/issues/{issue_number}": (asked, backstage) => {
    const { world } = backstage;
    const number = Number(asked.parameters["issue_number"]);
    const it = found(world.issues.get(keyOf(repositoryOf(asked, backstage), number)));
    it.title = text(asked.body["title"]) ?? it.title;
    it.body = text(asked.body["body"]) ?? it.body;
    it.state = asked.body["state"] === "closed" ? "closed" : it.state;
    it.updatedAt = world.now();
    return ok(issueView(it, world.app));
  },
  "GET /repos/{owner}/{repo}/issues/{issue_number}/comments": (asked, backstage) => {
    const repository = repositoryOf(asked, backstage);
    const number = Number(asked.parameters["issue_number"]);
    const { world } = backstage;
    const all = world.comments.filter((it) => it.repository === repository && it.number === number);
    return list(all.map((it) => commentView(it, world.app)));
  },
  "POST /repos/{owner}/{repo}/issues/{issue_number}/comments": (asked, backstage) => {
    const { world } = backstage;
    const at = world.now();
    const repository = repositoryOf(asked, backstage);
    const number = Number(asked.parameters["issue_number"]);
    if (world.pullRequests.get(keyOf(repository, number))?.locked)
      return ok({ message: "Unable to create comment because issue is locked." }, 403);
    const made = {
      id: world.newId(),
      repository,
      number,
      body: text(asked.body["body"]) ?? "",
      author: asked.caller.kind === "person" ? personAccount(asked.caller.login) : null,
      createdAt: at,
      updatedAt: at,
    };
    world.comments.push(made);
    return ok(commentView(made, world.app), 201);
  },
  "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}": (asked, { world }) => {
    const it = found(world.comments.find(({ id }) => id === Number(asked.parameters["comment_id"])));
    it.body = text(asked.body["body"]) ?? "";
    it.updatedAt = world.now();
    return ok(commentView(it, world.app));
  },
};

const CHECK_RUNS: Partial<Record<Operation, Answerer>> = {
  "POST /repos/{owner}/{repo}/check-runs": (asked, backstage) => {
    const { world } = backstage;
    const made = {
      id: world.newId(),
      repository: repositoryOf(asked, backstage),
      headSha: text(asked.body["head_sha"]) ?? "",
      name: text(asked.body["name"]) ?? "",
      startedAt: world.now(),
      ...checkRunFields(asked.body, world),
    };
    world.checkRuns.push(made);
    return ok(checkRunView(made, world.app), 201);
  },
  "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}": (asked, { world }) => {
    const it = found(world.checkRuns.find(({ id }) => id === Number(asked.parameters["check_run_id"])));
    Object.assign(it, checkRunFields(asked.body, world, it));
    return ok(checkRunView(it, world.app));
  },
  "GET /repos/{owner}/{repo}/commits/{ref}/check-runs": (asked, backstage) => {
    const { world } = backstage;
    const repository = repositoryOf(asked, backstage);
    const name = asked.query.get("check_name");
    const all = world.checkRuns
      .filter((it) => it.repository === repository && it.headSha === asked.parameters["ref"])
      .filter((it) => name === null || it.name === name);
    return list(
      all.map((it) => checkRunView(it, world.app)),
      (page) => ({ total_count: all.length, check_runs: page }),
    );
  },
};

function checkRunFields(body: Asked["body"], world: World, before?: World["checkRuns"][number]) {
  const output = (body["output"] ?? {}) as Record<string, unknown>;
  const conclusion = text(body["conclusion"]) ?? before?.conclusion ?? null;
  return {
    externalId: text(body["external_id"]) ?? before?.externalId ?? null,
    status: conclusion === null ? (text(body["status"]) ?? before?.status ?? "queued") : "completed",
    conclusion,
    detailsUrl: text(body["details_url"]) ?? before?.detailsUrl ?? null,
    output: {
      title: text(output["title"]) ?? before?.output.title ?? null,
      summary: text(output["summary"]) ?? before?.output.summary ?? null,
      text: text(output["text"]) ?? before?.output.text ?? null,
    },
    completedAt: conclusion === null ? null : world.now(),
  };
}

/** What the App writes: issues, comments and check runs. */
export const WRITTEN_ANSWERS = { ...WRITTEN, ...CHECK_RUNS };
