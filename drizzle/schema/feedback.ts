import { bigint, boolean, integer, uuid } from "drizzle-orm/pg-core";
import type { Digest } from "#shared/digest.ts";
import { instant, json, label, leaseColumns, orgTable } from "./columns.ts";

/** A commit whose message names a commit that it reverts. Contains no text of the message. */
export type CommitClaim = { commit: string; reverts: string };

/** Reverts that the commits of a merged pull request claim, once they were read from GitHub. */
export const pullRequestCommits = orgTable("pull_request_commits", {
  repositoryId: bigint("repository_id", { mode: "number" }).notNull(),
  number: integer("number").notNull(),
  /** Null: they could not be read yet. */
  readAt: instant("read_at"),
  claims: json<CommitClaim[]>("claims").notNull(),
  ...leaseColumns,
}).keyedBy(["repositoryId", "number"]);

/** What the App shows on a pull request on GitHub: one check run for its head, one comment. */
export const githubFeedback = orgTable("github_feedback", {
  kind: label("kind").$type<"check" | "comment">().notNull(),
  repositoryId: bigint("repository_id", { mode: "number" }).notNull(),
  number: integer("number").notNull(),
  /** GitHub's id of the check run or comment; null: unknown. */
  remoteId: bigint("remote_id", { mode: "number" }),
  /** The commit that the check run is of. */
  headSha: label("head_sha"),
  /** `body_at` of the pull request when its head was looked up. */
  seenAt: instant("seen_at"),
  /** Digest of what is shown there, so that only changes are sent. */
  shown: label("shown"),
  shownAt: instant("shown_at"),
  ...leaseColumns,
}).keyedBy(["kind", "repositoryId", "number"]);

/** Weekly digests: one row per due day and channel. `skipped`: the channel was off then. */
export const digests = orgTable("digests", {
  /** `2026-11-23`, the UTC day on which it is due. */
  dueOn: label("due_on").notNull(),
  channel: label("channel").$type<"issue" | "webhook">().notNull(),
  dueAt: instant("due_at").notNull(),
  state: label("state").$type<"waiting" | "sent" | "skipped" | "given_up">().notNull(),
  /** Sent with every attempt, so that a receiver can recognise a repetition. */
  deliveryId: uuid("delivery_id").notNull(),
  content: json<Digest>("content"),
  sentAt: instant("sent_at"),
  remoteId: bigint("remote_id", { mode: "number" }),
  ...leaseColumns,
}).keyedBy(["dueOn", "channel"]);

/** Where digests are posted. Its address may be a credential by itself, so it is sealed together with the secret. */
export const digestWebhooks = orgTable("digest_webhooks", {
  sealed: label("sealed").notNull(),
  /** Host name, to be shown. */
  host: label("host").notNull(),
  allowPrivateNetwork: boolean("allow_private_network").notNull(),
  createdAt: instant("created_at").notNull(),
}).keyedBy([]);
