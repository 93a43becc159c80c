import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import definitions from "@octokit/webhooks-examples/api.github.com/index.json";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { compiledSchemas } from "./compiled-schemas.ts";

/** A JSON object of GitHub's, loose on purpose: tests build deliveries that lack or garble members, too. */
export type Payload = { [member: string]: unknown };

type Definition = { name: string; examples: Payload[] };

/** Every example payload of the real service, by event. */
export const EXAMPLES = (definitions as unknown as Definition[]).flatMap(({ name, examples }) =>
  examples.map((payload) => ({ event: name, payload })),
);

function example(event: string, action: string): Payload {
  const found = EXAMPLES.filter((it) => it.event === event && it.payload["action"] === action).at(-1);
  if (!found) throw new Error(`no example of ${event}.${action}`);
  return structuredClone(found.payload);
}

const object = (value: unknown): Payload => value as Payload;

export const REPOSITORY = { id: 186853002, fullName: "Codertocat/Hello-World" };

type Named = { id: number; fullName: string; private?: boolean };
type Common = { repository?: Named; installationId?: number | null };

function place(payload: Payload, { repository, installationId = 1 }: Common): Payload {
  if (installationId === null) delete payload["installation"];
  else payload["installation"] = { id: installationId, node_id: "MDIzOk" };
  if (repository) {
    const it = object(payload["repository"]);
    Object.assign(it, {
      id: repository.id,
      full_name: repository.fullName,
      name: repository.fullName.split("/")[1],
      private: repository.private ?? false,
    });
  }
  return payload;
}

export type PullRequestOptions = Common & {
  action?:
    | "opened"
    | "edited"
    | "closed"
    | "reopened"
    | "synchronize"
    | "ready_for_review"
    | "converted_to_draft";
  number?: number;
  title?: string;
  body?: string | null;
  /** Sets `changes.body`. */
  formerBody?: string;
  formerTitle?: string;
  at?: string;
  openedAt?: string;
  /** When it was merged; absent: it was not. */
  mergedAt?: string;
  mergeCommitSha?: string;
  closed?: boolean;
  headRef?: string;
  headSha?: string;
  /** The fork that it came from was deleted. */
  headRepositoryGone?: boolean;
  /** The fork that it comes from; absent: a branch of the repository. */
  headRepository?: Named;
  authorAssociation?: string;
  author?: { login: string; type: "User" | "Bot" } | null;
};

const SHA = "c4295bd74fb0f4fda03689c3df3f2803b658fd85";

/** A `pull_request` delivery, made of the example of a closed one; like GitHub's, it has a merge sha before any merge. */
export function pullRequestPayload(options: PullRequestOptions = {}): Payload {
  const { action = "opened", number = 2, at = "2026-11-01T10:00:00Z", mergedAt } = options;
  const payload = place(example("pull_request", "closed"), options);
  const closed = options.closed ?? (action === "closed" || mergedAt !== undefined);
  const it = object(payload["pull_request"]);
  Object.assign(payload, { action, number });
  Object.assign(it, {
    number,
    title: options.title ?? "Update the README",
    body: options.body === undefined ? "Fixes a bug." : options.body,
    state: closed ? "closed" : "open",
    created_at: options.openedAt ?? "2026-11-01T09:00:00Z",
    updated_at: at,
    closed_at: closed ? at : null,
    merged: mergedAt !== undefined,
    merged_at: mergedAt ?? null,
    merged_by: mergedAt === undefined ? null : it["user"],
    merge_commit_sha: options.mergeCommitSha ?? SHA,
    author_association: options.authorAssociation ?? "MEMBER",
  });
  if (options.author !== undefined)
    it["user"] = options.author && { ...object(it["user"]), ...options.author };
  const head = object(it["head"]);
  if (options.headRef) head["ref"] = options.headRef;
  if (options.headSha) head["sha"] = options.headSha;
  const from = options.headRepository ?? options.repository;
  if (from) Object.assign(object(head["repo"]), { id: from.id, full_name: from.fullName });
  if (action === "edited") {
    payload["changes"] = {
      ...(options.formerBody === undefined ? {} : { body: { from: options.formerBody } }),
      ...(options.formerTitle === undefined ? {} : { title: { from: options.formerTitle } }),
    };
  }
  if (action === "synchronize") Object.assign(payload, { before: SHA, after: SHA });
  complete(payload);
  if (options.headRepositoryGone) head["repo"] = null;
  return payload;
}

export type ReviewOptions = Common & {
  action?: "submitted" | "edited" | "dismissed";
  id?: number;
  number?: number;
  body?: string | null;
  formerBody?: string;
  submittedAt?: string;
  /** `review.updated_at`; absent as in older deliveries. */
  updatedAt?: string;
  pullRequestAt?: string;
};

/** A `pull_request_review` delivery; its pull request is the simple form, which has no `merged`. */
export function reviewPayload(options: ReviewOptions = {}): Payload {
  const { action = "submitted", submittedAt = "2026-11-01T11:00:00Z" } = options;
  const payload = place(example("pull_request_review", "submitted"), options);
  const review = object(payload["review"]);
  payload["action"] = action;
  Object.assign(object(payload["pull_request"]), {
    number: options.number ?? 2,
    updated_at: options.pullRequestAt ?? submittedAt,
  });
  Object.assign(review, {
    id: options.id ?? 237895671,
    body: options.body ?? null,
    state: action === "dismissed" ? "dismissed" : "commented",
    submitted_at: submittedAt,
    ...(options.updatedAt === undefined ? {} : { updated_at: options.updatedAt }),
  });
  if (action === "edited") {
    payload["changes"] = options.formerBody === undefined ? {} : { body: { from: options.formerBody } };
  }
  return complete(payload);
}

/** Adds what GitHub has come to send since the example was taken. */
function complete(payload: Payload): Payload {
  for (const side of ["head", "base"]) {
    const repo = object(object(object(payload["pull_request"])[side])["repo"]);
    repo["has_discussions"] = false;
  }
  return payload;
}

const listed = ({ id, fullName, private: isPrivate = false }: Named) => ({
  id,
  node_id: "MDEwOl",
  name: fullName.split("/")[1],
  full_name: fullName,
  private: isPrivate,
});

function installationOf(id: number, times: { createdAt: string; updatedAt: string; suspendedAt?: string }) {
  return {
    ...object(example("installation", "suspend")["installation"]),
    id,
    created_at: times.createdAt,
    updated_at: times.updatedAt,
    suspended_at: times.suspendedAt ?? null,
  };
}

export function installationPayload(options: {
  action: "created" | "deleted" | "suspend" | "unsuspend" | "new_permissions_accepted";
  id?: number;
  account?: { id: number; login: string; type: string };
  repositories?: Named[];
  permissions?: Record<string, string>;
  createdAt?: string;
  updatedAt?: string;
  suspendedAt?: string;
}): Payload {
  const payload = example("installation", "suspend");
  const installation: Payload = installationOf(options.id ?? 1, {
    createdAt: options.createdAt ?? "2026-10-01T00:00:00Z",
    updatedAt: options.updatedAt ?? "2026-10-01T00:00:00Z",
    ...(options.suspendedAt === undefined ? {} : { suspendedAt: options.suspendedAt }),
  });
  if (options.account) installation["account"] = { ...object(installation["account"]), ...options.account };
  if (options.permissions) installation["permissions"] = options.permissions;
  return {
    ...payload,
    action: options.action,
    installation,
    repositories: (options.repositories ?? []).map(listed),
    requester: null,
  };
}

export function coveragePayload(options: {
  action: "added" | "removed";
  id?: number;
  repositories: Named[];
}): Payload {
  const names = options.repositories.map(listed);
  return {
    ...example("installation_repositories", "added"),
    action: options.action,
    installation: installationOf(options.id ?? 1, {
      createdAt: "2026-10-01T00:00:00Z",
      updatedAt: "2026-10-01T00:00:00Z",
    }),
    repositories_added: options.action === "added" ? names : [],
    repositories_removed: options.action === "removed" ? names : [],
    requester: null,
  };
}

export function renamePayload(options: {
  repository: Named;
  formerName: string;
  at: string;
  installationId?: number | null;
}): Payload {
  const payload = place(example("repository", "renamed"), options);
  object(payload["repository"])["updated_at"] = options.at;
  payload["changes"] = { repository: { name: { from: options.formerName } } };
  return payload;
}

const SCHEMAS = import.meta.resolve("@octokit/openapi-webhooks/generated/api.github.com.json");
const checks = new Map<string, ValidateFunction>();
let compiled: ReturnType<typeof compiledSchemas> | null = null;

/** Where a payload departs from GitHub's own schema of its event and action. */
export function schemaFaults(event: string, payload: Payload): string[] {
  const name = `webhook-${event}-${payload["action"]}`.replaceAll("_", "-");
  compiled ??= compiledSchemas("github", readFileSync(new URL(SCHEMAS), "utf8"));
  const validate = checks.get(name) ?? compiled({ $ref: `github#/components/schemas/${name}` });
  checks.set(name, validate);
  return validate(payload) ? [] : (validate.errors ?? []).map((it) => `${it.instancePath} ${it.message}`);
}

/** The value of `X-Hub-Signature-256`. */
export const signatureOf = (body: string | Uint8Array, secret: string): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
