import { bigint, pgTable, primaryKey, uuid } from "drizzle-orm/pg-core";
import { label, org } from "./columns.ts";

/**
 * How often what reports read has changed, by whom it concerns: a team's name, `*` for records of whatever team, and an
 * empty text for what no team owns, such as a merge. Triggers count, in the transaction that writes. A count has several
 * parts, so that writers never wait for each other (decision: Pages follow the version of the records).
 */
export const recordChanges = pgTable(
  "record_changes",
  {
    orgId: org(),
    team: label("team").notNull(),
    part: uuid("part").notNull().defaultRandom(),
    changes: bigint("changes", { mode: "bigint" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.orgId, table.team, table.part] })],
);
