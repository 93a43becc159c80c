import { sql } from "drizzle-orm";
import { boolean, index, integer, smallint, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { exact, instant, label, labels, orgTable } from "./columns.ts";
import type { Channel } from "./records.ts";

/**
 * Declarations that an agent's session worked on a task: the cost of its declarer's calls then counts for that task's
 * pull request. Each is kept as evidence; the first one of a session and a declarer counts. A row whose session is the
 * task itself only says where that task is.
 */
export const sessionLinks = orgTable("session_links", {
  session: label("session").notNull(),
  /** The session of the task. */
  ofSession: label("of_session").notNull(),
  /** The owner of the key that declared it, in lower case, or the id of a key without one. */
  declarer: label("declarer").notNull(),
  /** The task in the declarer's words, such as a branch. */
  task: label("task"),
  /** `owner/name` in lower case, and the branch, where the agent's hook or `tallygate` ran; evidence of a common task. */
  repository: label("repository"),
  branch: label("branch"),
  /** An opaque id of the clone it was declared in: clones of one branch are told apart. */
  clone: label("clone"),
  counts: boolean("counts").notNull(),
  keyId: uuid("key_id").notNull(),
  client: label("client").notNull(),
  declaredAt: instant("declared_at").notNull(),
  /** When the owner of either session removed it. It stays, so that it is not declared again. */
  removedAt: instant("removed_at"),
}).keyedBy(["session", "declarer", "ofSession"], (table) => [
  uniqueIndex("session_links_counts")
    .on(table.orgId, table.session, table.declarer)
    .where(sql`${table.counts}`),
  index("session_links_of").on(table.orgId, table.ofSession),
]);

/** Under which other ids agents made the calls of a session: their own, and their parents'. Filled by a trigger of `requests`. */
export const sessionAgents = orgTable("session_agents", {
  session: label("session").notNull(),
  agentSession: label("agent_session").notNull(),
}).keyedBy(["session", "agentSession"], (table) => [
  index("session_agents_agent").on(table.orgId, table.agentSession),
]);

/** An agent's session works on a branch from then on: covers its declarer's calls until the pair's next context. */
export const sessionContexts = orgTable("session_contexts", {
  id: uuid("id").notNull().defaultRandom(),
  /** The agent's own session. */
  session: label("session").notNull(),
  /** As in `session_links`. */
  declarer: label("declarer").notNull(),
  /** `owner/name` in lower case. */
  repository: label("repository").notNull(),
  branch: label("branch").notNull(),
  keyId: uuid("key_id").notNull(),
  client: label("client").notNull(),
  /** By the gateway's clock. */
  declaredAt: instant("declared_at").notNull(),
}).keyedBy(["id"], (table) => [
  uniqueIndex("session_contexts_pair").on(table.orgId, table.session, table.declarer, table.declaredAt),
]);

/**
 * Sums of the calls that a context covers, by quarter of an hour, of which days of any zone consist. `session` is the one that
 * counts for them. Triggers of `requests` and `session_contexts` keep them; sums whose single records have been dropped stay.
 */
export const sessionStretches = orgTable("session_stretches", {
  /** A hash of the columns that identify it. */
  cell: uuid("cell").notNull(),
  context: uuid("context").notNull(),
  session: label("session").notNull(),
  quarter: instant("quarter").notNull(),
  keyId: uuid("key_id").notNull(),
  owner: label("owner"),
  teams: labels("teams"),
  model: label("model"),
  channel: label("channel").$type<Channel>().notNull(),
  records: integer("records").notNull(),
  /** Records whose cost is known. */
  known: integer("known").notNull(),
  /** Records whose cost is unknown or a lower bound. */
  uncertain: integer("uncertain").notNull(),
  costUsd: exact("cost_usd").notNull(),
}).keyedBy(["cell"], (table) => [index("session_stretches_session").on(table.orgId, table.session)]);

/**
 * Which explanation the calls of a session have, by its place in `EXPLANATIONS`: those of anyone, where `declarer` is null, else
 * those of that one, which count first. With `agent`, those under that id of an agent's from `since` until the next row.
 * What is kept for sessions in `session_marks` no longer holds (session-places.ts).
 */
export const sessionPlaces = orgTable("session_places", {
  id: uuid("id").notNull().defaultRandom(),
  session: label("session").notNull(),
  declarer: label("declarer"),
  agent: label("agent"),
  since: instant("since"),
  place: smallint("place").notNull(),
}).keyedBy(["id"], (table) => [index("session_places_session").on(table.orgId, table.session)]);

/** Sessions whose pull requests, links or contexts changed. Filled by triggers of all that explanations rest on. */
export const sessionMarks = orgTable("session_marks", {
  id: uuid("id").notNull().defaultRandom(),
  session: label("session").notNull(),
}).keyedBy(["id"]);
