import { bigint, uuid } from "drizzle-orm/pg-core";
import { label, orgTable } from "./columns.ts";

/**
 * Counts changes to the data of reports, by scope: a team's name, `*` for records of any team, and an empty text for
 * data that no team owns, such as a merge. Triggers count in the writing transaction. A count has several parts, so
 * that writers never wait for each other (decision: Pages follow the version of the records).
 */
export const recordChanges = orgTable("record_changes", {
  team: label("team").notNull(),
  part: uuid("part").notNull().defaultRandom(),
  changes: bigint("changes", { mode: "bigint" }).notNull(),
}).keyedBy(["team", "part"]);
