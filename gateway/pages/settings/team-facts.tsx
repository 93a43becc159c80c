import type { TeamView } from "#shared/admin/teams.ts";
import { textColumn } from "./cells.tsx";
import type { ResourceFacts } from "./resource-panel.tsx";

/** Teams: who is accounted together. */
export const TEAMS: ResourceFacts<TeamView> = {
  path: "/admin/v1/teams",
  title: "Teams",
  noun: "team",
  idOf: ({ name }) => name,
  nameOf: ({ name }) => name,
  columns: [
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("parent", "Below", { of: ({ parent }) => parent, none: "no team" }),
    textColumn("cost_center", "Cost centre", { of: ({ cost_center: center }) => center, none: "as above" }),
  ],
  fields: [
    { name: "name", label: "Name", kind: "text", required: true, createOnly: true },
    { name: "parent", label: "Team above", kind: "text", nullable: true },
    { name: "cost_center", label: "Cost centre", kind: "text", nullable: true, placeholder: "CC-100" },
    {
      name: "budget_usd",
      label: "Budget, USD",
      kind: "decimal",
      nullable: true,
      help: "For the team and the teams below it.",
    },
    {
      name: "budget_period",
      label: "Budget period",
      kind: "choice",
      options: ["day", "month"],
      none: "month",
    },
    {
      name: "key_template",
      label: "What its people's own keys may do",
      kind: "json",
      nullable: true,
      help: "A JSON object of scopes and limits. Empty: as the team above, else as the settings say.",
    },
    {
      name: "claude_settings",
      label: "Claude Code's managed settings",
      kind: "json",
      nullable: true,
      help: "A JSON object. Empty: as the team above, else as the settings say.",
    },
  ],
  empty: "A team groups keys and people in reports and budgets.",
  removal: { verb: "Delete", effect: "Refused while teams or keys belong to it. Records keep its name." },
};
