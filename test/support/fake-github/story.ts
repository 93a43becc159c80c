import {
  coveragePayload,
  installationPayload,
  type Payload,
  pullRequestPayload,
  renamePayload,
  reviewPayload,
} from "../github-payloads.ts";
import type { Deliveries, SendOptions } from "./deliveries.ts";
import {
  type Account,
  type Commit,
  type Installation,
  keyOf,
  LEAST_PERMISSIONS,
  type PullRequest,
  type Repository,
  type Review,
  shaOf,
  type World,
} from "./world.ts";

/** What happens at GitHub: each deed changes the world and, unless told otherwise, is delivered to the App. */
export function createStory(world: World, deliveries: Deliveries) {
  const eventOf = payloads(world);
  const send: Send = (event, payload, options) =>
    options?.silent ? Promise.resolve(null) : deliveries.send(event, payload(), options);

  return {
    ...deedsOfRepositories(world, eventOf, send),
    ...deedsOfPullRequests(world, eventOf, send),
    ...deedsOfReviews(world, eventOf, send),
  };
}

/** Makes the payload only if it is to be delivered; then resolves with the attempt. */
type Send = (
  event: string,
  payload: () => Payload,
  options?: SendOptions,
) => Promise<Awaited<ReturnType<Deliveries["send"]>> | null>;
type Payloads = ReturnType<typeof payloads>;

/** Deliveries made of the world as it stands. */
function payloads(world: World) {
  const place = (repository: Repository) => ({
    repository,
    installationId:
      world.installations.find((it) => it.repositories.includes(repository) && !it.removed)?.id ?? null,
  });
  return {
    pullRequest: (
      it: PullRequest,
      action: NonNullable<Parameters<typeof pullRequestPayload>[0]>["action"],
      formerBody?: string | null,
    ) =>
      pullRequestPayload({
        ...place(it.repository),
        ...(action === undefined ? {} : { action }),
        number: it.number,
        title: it.title,
        body: it.body,
        author: it.user as { login: string; type: "User" | "Bot" } | null,
        at: it.updatedAt,
        openedAt: it.createdAt,
        closed: it.closedAt !== null,
        ...(it.mergedAt === null ? {} : { mergedAt: it.mergedAt }),
        mergeCommitSha: it.mergeCommitSha,
        headRef: it.headRef,
        headSha: it.headSha,
        headRepositoryGone: it.headRepository === "deleted",
        ...(typeof it.headRepository === "object" && it.headRepository !== null
          ? { headRepository: it.headRepository }
          : {}),
        authorAssociation: it.authorAssociation,
        ...(formerBody === undefined ? {} : { formerBody: formerBody ?? "" }),
      }),
    review: (
      it: Review,
      of: PullRequest,
      action: "submitted" | "edited" | "dismissed",
      formerBody?: string,
    ) =>
      reviewPayload({
        ...place(of.repository),
        action,
        id: it.id,
        number: of.number,
        // GitHub delivers an empty body as null.
        body: it.body === "" ? null : it.body,
        submittedAt: it.submittedAt,
        updatedAt: it.updatedAt,
        pullRequestAt: of.updatedAt,
        ...(formerBody === undefined ? {} : { formerBody }),
      }),
    renamed: (repository: Repository, formerName: string) =>
      renamePayload({
        repository,
        formerName,
        at: repository.updatedAt,
        installationId: place(repository).installationId,
      }),
    installation: (
      it: Installation,
      action: "created" | "deleted" | "suspend" | "unsuspend" | "new_permissions_accepted",
    ) =>
      installationPayload({
        action,
        id: it.id,
        account: it.account,
        repositories: it.repositories,
        permissions: it.permissions,
        createdAt: it.createdAt,
        updatedAt: it.updatedAt,
        ...(it.suspendedAt === null ? {} : { suspendedAt: it.suspendedAt }),
      }),
    coverage: (it: Installation, action: "added" | "removed", repositories: Repository[]) =>
      coveragePayload({ action, id: it.id, repositories }),
  };
}

function deedsOfRepositories(world: World, eventOf: Payloads, send: Send) {
  return {
    /** Tells nobody: a repository where the App is not installed. */
    addRepository: (fullName: string, values: Partial<Repository> = {}): Repository => {
      const at = world.now();
      const made = {
        id: world.newId(),
        fullName,
        private: false,
        createdAt: at,
        updatedAt: at,
        lastNumber: 0,
        ...values,
      };
      world.repositories.set(made.id, made);
      return made;
    },
    install: async (
      values: {
        account?: Account;
        repositories: Repository[];
        id?: number;
        createdAt?: string;
        updatedAt?: string;
        permissions?: Record<string, string>;
      },
      options?: SendOptions,
    ): Promise<Installation> => {
      const at = world.now();
      const made: Installation = {
        id: world.newId(),
        account: { id: 1, login: "octo-org", type: "Organization" },
        permissions: LEAST_PERMISSIONS,
        createdAt: at,
        updatedAt: at,
        suspendedAt: null,
        removed: false,
        ...values,
      };
      world.installations.push(made);
      await send("installation", () => eventOf.installation(made, "created"), options);
      return made;
    },
    suspend: async (it: Installation, options?: SendOptions) => {
      it.suspendedAt = it.updatedAt = world.now();
      return await send("installation", () => eventOf.installation(it, "suspend"), options);
    },
    /** The account accepts what the App asks for; tokens that exist keep what they had. */
    accept: async (it: Installation, permissions: Record<string, string>, options?: SendOptions) => {
      it.permissions = permissions;
      it.updatedAt = world.now();
      return await send("installation", () => eventOf.installation(it, "new_permissions_accepted"), options);
    },
    unsuspend: async (it: Installation, options?: SendOptions) => {
      it.suspendedAt = null;
      return await send("installation", () => eventOf.installation(it, "unsuspend"), options);
    },
    uninstall: async (it: Installation, options?: SendOptions) => {
      it.removed = true;
      it.updatedAt = world.now();
      return await send("installation", () => eventOf.installation(it, "deleted"), options);
    },
    addToInstallation: async (it: Installation, added: Repository[], options?: SendOptions) => {
      it.repositories.push(...added);
      return await send("installation_repositories", () => eventOf.coverage(it, "added", added), options);
    },
    removeFromInstallation: async (it: Installation, removed: Repository[], options?: SendOptions) => {
      it.repositories = it.repositories.filter((one) => !removed.includes(one));
      return await send("installation_repositories", () => eventOf.coverage(it, "removed", removed), options);
    },
    rename: async (it: Repository, fullName: string, options?: SendOptions & { at?: string }) => {
      const former = it.fullName.split("/")[1] ?? "";
      it.fullName = fullName;
      it.updatedAt = options?.at ?? world.now();
      return await send("repository", () => eventOf.renamed(it, former), options);
    },
  };
}

type NewPullRequest = {
  repository: Repository;
  title?: string;
  body?: string | null;
  user?: Account | null;
  headRef?: string;
  headRepository?: PullRequest["headRepository"];
  authorAssociation?: string;
  commits?: Commit[];
  at?: string;
};

function deedsOfPullRequests(world: World, eventOf: Payloads, send: Send) {
  return {
    openPullRequest: async (values: NewPullRequest, options?: SendOptions): Promise<PullRequest> => {
      const { repository, at = world.now() } = values;
      const number = ++repository.lastNumber;
      const name = `${repository.id}#${number}`;
      const made: PullRequest = {
        id: world.newId(),
        repository,
        number,
        title: values.title ?? `Change ${number}`,
        body: values.body ?? null,
        user: values.user === undefined ? { id: 2, login: "octocat", type: "User" } : values.user,
        createdAt: at,
        updatedAt: at,
        closedAt: null,
        mergedAt: null,
        mergeCommitSha: shaOf(`test merge ${name}`),
        headRef: values.headRef ?? `branch-${number}`,
        headSha: shaOf(`head ${name}`),
        headRepository: values.headRepository ?? null,
        authorAssociation: values.authorAssociation ?? "MEMBER",
        locked: false,
        baseRef: "main",
        commits: values.commits ?? [{ sha: shaOf(`head ${name}`), message: `Change ${number}` }],
        reviews: [],
      };
      world.pullRequests.set(keyOf(repository, number), made);
      await send("pull_request", () => eventOf.pullRequest(made, "opened"), options);
      return made;
    },
    editBody: async (it: PullRequest, body: string | null, options?: SendOptions & { at?: string }) => {
      const former = it.body;
      it.body = body;
      it.updatedAt = options?.at ?? world.now();
      return await send("pull_request", () => eventOf.pullRequest(it, "edited", former), options);
    },
    merge: async (it: PullRequest, options?: SendOptions & { at?: string }) => {
      it.updatedAt = options?.at ?? world.now();
      it.mergedAt = it.closedAt = it.updatedAt;
      it.mergeCommitSha = shaOf(`merge ${keyOf(it.repository, it.number)}`);
      return await send("pull_request", () => eventOf.pullRequest(it, "closed"), options);
    },
    close: async (it: PullRequest, options?: SendOptions & { at?: string }) => {
      it.updatedAt = it.closedAt = options?.at ?? world.now();
      return await send("pull_request", () => eventOf.pullRequest(it, "closed"), options);
    },
    /** A push to its branch. */
    push: async (it: PullRequest, commit: Commit, options?: SendOptions & { at?: string }) => {
      it.commits.push(commit);
      it.headSha = commit.sha;
      it.updatedAt = options?.at ?? world.now();
      return await send("pull_request", () => eventOf.pullRequest(it, "synchronize"), options);
    },
  };
}

function deedsOfReviews(world: World, eventOf: Payloads, send: Send) {
  return {
    submitReview: async (
      of: PullRequest,
      values: { body?: string; user?: Account | null; at?: string } = {},
      options?: SendOptions,
    ): Promise<Review> => {
      const at = values.at ?? world.now();
      const made: Review = {
        id: world.newId(),
        user: values.user === undefined ? { id: 3, login: "reviewer", type: "User" } : values.user,
        body: values.body ?? "",
        state: "COMMENTED",
        submittedAt: at,
        updatedAt: at,
      };
      of.reviews.push(made);
      of.updatedAt = at;
      await send("pull_request_review", () => eventOf.review(made, of, "submitted"), options);
      return made;
    },
    editReview: async (
      it: Review,
      of: PullRequest,
      body: string,
      options?: SendOptions & { at?: string },
    ) => {
      const former = it.body;
      it.body = body;
      it.updatedAt = options?.at ?? world.now();
      return await send("pull_request_review", () => eventOf.review(it, of, "edited", former), options);
    },
    dismissReview: async (it: Review, of: PullRequest, options?: SendOptions & { at?: string }) => {
      it.state = "DISMISSED";
      it.updatedAt = of.updatedAt = options?.at ?? world.now();
      return await send("pull_request_review", () => eventOf.review(it, of, "dismissed"), options);
    },
  };
}
