import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer } from "drizzle-orm/pg-core";
import { words } from "#shared/words.ts";
import { instant, json, label, labels, orgTable } from "./columns.ts";

/** The state of a pull request's link to a session. */
export const LINK_STATES = words("open joined no_stamp conflict unknown_session claimed not_merged");
export type LinkState = (typeof LINK_STATES)[number];

/**
 * Why a link is in its state: the delivery that caused it (null: a record of the gateway did), the rule that decided,
 * and the session ids that it saw. Contains no text of the pull request.
 */
export type LinkEvidence = {
  deliveryId: string | null;
  rule: string;
  sessionIds: string[];
  diagnostics: string[];
  /** The payload's own time. */
  at: string;
};

const githubId = (name: string) => bigint(name, { mode: "number" });

export const installations = orgTable("installations", {
  id: githubId("id").notNull(),
  accountLogin: label("account_login").notNull(),
  accountId: githubId("account_id").notNull(),
  state: label("state").$type<"active" | "suspended" | "removed">().notNull(),
  /** Payload's own time of the last change applied. */
  changedAt: instant("changed_at").notNull(),
  /** Permissions that its account accepted, e.g. `{"checks": "write"}`; null: not known yet. */
  permissions: json<Record<string, string>>("permissions"),
}).keyedBy(["id"]);

/** Keyed by GitHub's id, so that a rename or a transfer keeps history. */
export const repositories = orgTable("repositories", {
  id: githubId("id").notNull(),
  installationId: githubId("installation_id"),
  /** Last known `owner/name`. */
  fullName: label("full_name").notNull(),
  formerNames: json<string[]>("former_names").notNull(),
  /** False once the App was removed from it. */
  covered: boolean("covered").notNull().default(true),
  /** Null: not known yet. */
  isPrivate: boolean("is_private"),
  changedAt: instant("changed_at").notNull(),
}).keyedBy(["id"]);

/** A `release` moves what was merged before between lasting branches; a `backport` repeats a change on an older one. */
export const PULL_REQUEST_KINDS = ["change", "release", "backport"] as const;
export type PullRequestKind = (typeof PULL_REQUEST_KINDS)[number];

export const pullRequests = orgTable("pull_requests", {
  repositoryId: githubId("repository_id").notNull(),
  number: integer("number").notNull(),
  state: label("state").$type<"open" | "closed" | "merged">().notNull(),
  authorLogin: label("author_login"),
  authorIsBot: boolean("author_is_bot").notNull().default(false),
  /** The author's relation to the repository in GitHub's words, e.g. `MEMBER`; null: not known. */
  authorAssociation: label("author_association"),
  /** Whether it comes from a fork; null: not known. */
  fromFork: boolean("from_fork"),
  /** The branch that it merges; null: not known yet. */
  headBranch: label("head_branch"),
  /** `owner/name` of that branch's repository; null: not known, or a fork that was deleted. */
  headRepository: label("head_repository"),
  /** The branch that it is merged into; null: not known yet. */
  baseBranch: label("base_branch"),
  /** What its branches say it is (github-app/facts/branch-kind.ts); null: not known yet. */
  kind: label("kind").$type<PullRequestKind>(),
  /** When GitHub last reported its size; null: not known yet, because lists omit it. */
  additions: integer("additions"),
  deletions: integer("deletions"),
  changedFiles: integer("changed_files"),
  sizeAt: instant("size_at"),
  openedAt: instant("opened_at"),
  /** Set once, never unset: a merge is final. */
  mergedAt: instant("merged_at"),
  mergeCommitSha: label("merge_commit_sha"),
  link: label("link").$type<LinkState>().notNull(),
  /** Distinct valid ids of the body, sorted; one is a candidate, two or more a conflict. */
  sessionIds: labels("session_ids").notNull(),
  /** The session, when exactly one is written; it is joined once a request of it is known. */
  session: label("session"),
  bodySha256: label("body_sha256"),
  /** `updated_at` of the event that the body facts come from. */
  bodyAt: instant("body_at"),
  /** That event changed the body; among events of one second it therefore wins. */
  bodyEdited: boolean("body_edited").notNull().default(false),
  editedAfterMerge: boolean("edited_after_merge").notNull().default(false),
  /** Number that the head branch `revert-N-…` names. */
  revertsByBranch: integer("reverts_by_branch"),
  /** `owner/repo#N` or `#N` that the body says it reverts. */
  revertsByBody: json<{ repository: string | null; number: number }[]>("reverts_by_body").notNull(),
  /** Commit shas that the body says it reverts. */
  revertsBySha: labels("reverts_by_sha").notNull(),
  /** The session whose claim an administrator accepted. */
  acceptedSession: label("accepted_session"),
  evidence: json<LinkEvidence[]>("evidence").notNull(),
}).keyedBy(["repositoryId", "number"], (table) => [
  index("pull_requests_merged_at").on(table.orgId, table.mergedAt),
  index("pull_requests_session").on(table.orgId, table.session),
  index("pull_requests_unlinked")
    .on(table.orgId, table.repositoryId, table.number)
    .where(sql`${table.link} in ('unknown_session', 'claimed')`),
]);

export const reviews = orgTable("reviews", {
  repositoryId: githubId("repository_id").notNull(),
  id: githubId("id").notNull(),
  number: integer("number").notNull(),
  reviewerLogin: label("reviewer_login"),
  submittedAt: instant("submitted_at").notNull(),
  dismissed: boolean("dismissed").notNull().default(false),
  sessionIds: labels("session_ids").notNull(),
  /** The session, when exactly one valid id is written: then the review counts. */
  session: label("session"),
  bodyAt: instant("body_at"),
  /** The event that the body facts come from changed the body; among events of one second it therefore wins. */
  bodyEdited: boolean("body_edited").notNull().default(false),
}).keyedBy(["repositoryId", "id"], (table) => [
  index("reviews_submitted_at").on(table.orgId, table.submittedAt),
]);

/** When a webhook last got each kind of answer. `ping`: verified, and proves only that GitHub reaches the App. */
export const webhookAnswers = orgTable("webhook_answers", {
  answer: label("answer").notNull(),
  answeredAt: instant("answered_at").notNull(),
}).keyedBy(["answer"]);

/** Deliveries, reduced to the facts needed and kept until they are applied. Contains no text of pull requests. */
export const webhookInbox = orgTable("webhook_inbox", {
  /** `X-GitHub-Delivery`: the same for a redelivery, so a duplicate is seen. */
  deliveryId: label("delivery_id").notNull(),
  event: label("event").notNull(),
  action: label("action"),
  /** The payload's own time, which orders the work. */
  occurredAt: instant("occurred_at").notNull(),
  receivedAt: instant("received_at").notNull(),
  facts: json<Record<string, unknown>>("facts").notNull(),
  processedAt: instant("processed_at"),
  attempts: integer("attempts").notNull().default(0),
  /** After a failure: not tried again before this. */
  nextAttemptAt: instant("next_attempt_at"),
  /** Class of the last failure, never its message. */
  failure: label("failure"),
}).keyedBy(["deliveryId"], (table) => [
  index("webhook_inbox_pending").on(table.orgId, table.processedAt, table.occurredAt),
]);
