import { bigint, index, integer } from "drizzle-orm/pg-core";
import type { GithubAppReport } from "#shared/admin/github-app.ts";
import { instant, json, label, leaseColumns, orgTable } from "./columns.ts";

const githubId = (name: string) => bigint(name, { mode: "number" });

/** The App that was registered through the set-up page. */
export const githubApps = orgTable("github_apps", {
  appId: githubId("app_id").notNull(),
  slug: label("slug").notNull(),
  ownerLogin: label("owner_login"),
  /** Where GitHub shows the App. */
  htmlUrl: label("html_url").notNull(),
  /** The REST API's root that the App belongs to. */
  apiUrl: label("api_url").notNull(),
  /** Private key, webhook secrets and client secret, sealed under the master key. */
  sealed: label("sealed").notNull(),
  createdAt: instant("created_at").notNull(),
}).keyedBy([]);

/**
 * Events that gave or removed the App's access to a repository: a set, so that any order and repetition of deliveries
 * gives the same rows. Windows are computed from it (shared/coverage.ts).
 */
export const coverageChanges = orgTable("coverage_changes", {
  installationId: githubId("installation_id").notNull(),
  /** 0: all repositories of the installation. */
  repositoryId: githubId("repository_id").notNull(),
  at: instant("at").notNull(),
  kind: label("kind").$type<"added" | "removed" | "suspended" | "unsuspended" | "uninstalled">().notNull(),
}).keyedBy(["installationId", "repositoryId", "at", "kind"], (table) => [
  index("coverage_changes_repository").on(table.orgId, table.repositoryId),
]);

/**
 * How far a repository's pull requests were asked of GitHub. A pass goes through them from the latest change back to
 * `stopAt`, first the pull requests, then their reviews, and `page` is the next one: a process that dies loses a page.
 */
export const githubPasses = orgTable("github_passes", {
  repositoryId: githubId("repository_id").notNull(),
  installationId: githubId("installation_id").notNull(),
  /** All changes up to this time are known; null: nothing was read yet. */
  watermark: instant("watermark"),
  phase: label("phase").$type<"idle" | "pulls" | "reviews">().notNull().default("idle"),
  page: integer("page").notNull().default(1),
  /** Changes before it are not read; null: back to the first pull request. */
  stopAt: instant("stop_at"),
  /** The latest change when the pass began, which becomes the watermark. */
  reachAt: instant("reach_at"),
  startedAt: instant("started_at"),
  finishedAt: instant("finished_at"),
  dueAt: instant("due_at").notNull(),
  /** The entity tag of the list's first page when the last pass was done; null: there was none. */
  etag: label("etag"),
  /** Pull requests and reviews that the pass has read so far, or the last one read. */
  pulls: integer("pulls").notNull().default(0),
  reviews: integer("reviews").notNull().default(0),
  /** Class of the failure that blocks the pass; null if none does. */
  failure: label("failure"),
}).keyedBy(["repositoryId"]);

/** Periodic work that one process at a time does. */
export const githubTasks = orgTable("github_tasks", {
  name: label("name").$type<"reconcile" | "redeliver">().notNull(),
  /** When it was last completed; null: never. */
  doneAt: instant("done_at"),
  ...leaseColumns,
}).keyedBy(["name"]);

/** Until when GitHub asked not to be called; other processes and a restarted one wait, too. */
export const githubWaits = orgTable("github_waits", {
  /** 0: calls of the App itself. */
  installationId: githubId("installation_id").notNull(),
  until: instant("until").notNull(),
}).keyedBy(["installationId"]);

/** Deliveries that GitHub refuses to send again. */
export const refusedRedeliveries = orgTable("refused_redeliveries", {
  deliveryId: label("delivery_id").notNull(),
  status: integer("status").notNull(),
  refusedAt: instant("refused_at").notNull(),
}).keyedBy(["deliveryId"]);

/** One-time links to the set-up page that were used. */
export const usedSetupLinks = orgTable("used_setup_links", {
  /** SHA-256 of the link's token, hexadecimal. */
  tokenSha256: label("token_sha256").notNull(),
  expiresAt: instant("expires_at").notNull(),
}).keyedBy(["tokenSha256"]);

/** The App's state as its processes report it, and what an administrator asked of them in the console. */
export const githubAppReports = orgTable("github_app_reports", {
  report: json<GithubAppReport>("report").notNull(),
  /** When a process of the App last ran. */
  seenAt: instant("seen_at").notNull(),
  reportedAt: instant("reported_at").notNull(),
  /** When the console last asked for a new report; null: never. */
  askedAt: instant("asked_at"),
  /** When a new webhook secret was asked for; null: no change is due. */
  secretAskedAt: instant("secret_asked_at"),
}).keyedBy([]);

/** Merges that named a session while `pull_request_stamping` was off, kept for 30 days to join them once it is on. */
export const waitingMerges = orgTable("waiting_merges", {
  repositoryId: githubId("repository_id").notNull(),
  number: integer("number").notNull(),
  authorLogin: label("author_login"),
  session: label("session").notNull(),
  mergedAt: instant("merged_at").notNull(),
}).keyedBy(["repositoryId", "number"]);
