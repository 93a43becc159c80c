import type { TeamView } from "#shared/admin/teams.ts";
import { textColumn } from "./cells.tsx";
import { TEAM } from "./forms/people-forms.ts";
import type { ResourceFacts } from "./resource-panel.tsx";

/** Teams: who is accounted together. */
export const TEAMS: ResourceFacts<TeamView> = {
  path: "/admin/v1/teams",
  title: "Teams",
  noun: "team",
  columns: [
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("parent", "Below", { of: ({ parent }) => parent, none: "no team" }),
    textColumn("cost_center", "Cost centre", { of: ({ cost_center: center }) => center, none: "as above" }),
  ],
  spend: { by: "team", nameOf: ({ name }) => name },
  form: TEAM,
  empty: "A team groups keys and people in reports and budgets.",
  removal: { verb: "Delete", effect: "Refused while teams or keys belong to it. Records keep its name." },
};
