import type { TeamView } from "#shared/admin/teams.ts";
import { text } from "../parts/columns.tsx";
import { TEAM } from "./forms/people-forms.ts";
import type { ResourceFacts } from "./resource-panel.tsx";

/** Teams: who is accounted together. */
export const TEAMS: ResourceFacts<TeamView> = {
  path: "/admin/v1/teams",
  title: "Teams",
  noun: "team",
  columns: {
    name: text("Name", ({ name }) => name),
    parent: text("Below", ({ parent }) => parent, "no team"),
    cost_center: text("Cost centre", ({ cost_center: center }) => center, "as above"),
  },
  spend: { by: "team", nameOf: ({ name }) => name },
  form: TEAM,
  empty: "A team groups keys and people in reports and budgets.",
  removal: { verb: "Delete", effect: "Refused while teams or keys belong to it. Records keep its name." },
};
