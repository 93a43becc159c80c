import { sql } from "drizzle-orm";
import { boolean, index, pgTable, primaryKey, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, label, org } from "./columns.ts";

/**
 * Declarations that an agent's session worked on a task: the cost of its declarer's calls then counts for that task's
 * pull request. Each is kept as evidence; the first one of a session and a declarer counts. A row whose session is the
 * task itself only says where that task is.
 */
export const sessionLinks = pgTable(
  "session_links",
  {
    orgId: org(),
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
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.session, table.declarer, table.ofSession] }),
    uniqueIndex("session_links_counts")
      .on(table.orgId, table.session, table.declarer)
      .where(sql`${table.counts}`),
    index("session_links_of").on(table.orgId, table.ofSession),
  ],
);

/** Under which other ids agents made the calls of a session: their own, and their parents'. Filled by a trigger of `requests`. */
export const sessionAgents = pgTable(
  "session_agents",
  {
    orgId: org(),
    session: label("session").notNull(),
    agentSession: label("agent_session").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.session, table.agentSession] }),
    index("session_agents_agent").on(table.orgId, table.agentSession),
  ],
);
