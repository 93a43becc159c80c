import { TeamBody, TeamPatch, TeamView } from "#shared/admin/teams.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { viewAs } from "#shared/view-as.ts";
import { deleteTeam, type TeamRow, teamRows, writeTeam } from "../stores/teams.ts";
import type { AdminDeps } from "./deps.ts";
import { changedBudget } from "./key-view.ts";
import { namedResource } from "./named-resource.ts";

/** `/admin/v1/teams`: who is accounted together, and under which cost centre. */
export const adminTeams = (deps: AdminDeps) =>
  namedResource(deps, {
    path: "teams",
    tag: "teams",
    nouns: { one: "a team", many: "teams" },
    words: {
      create: {
        description:
          "A record keeps the team and the cost centre of its key at the time of the call, so that a later change does not change past reports. An unknown `parent`, or one that is below the team, is 400.",
      },
      remove: {
        description:
          "Refused while teams are below it, or keys, people, tokens or role mappings belong to it. Records keep its name.",
      },
    },
    schemas: { body: TeamBody, patch: TeamPatch, view: TeamView },
    store: { ...teamRows, write: writeTeam, remove: deleteTeam },
    audit: { set: "team.set", deleted: "team.deleted" },
    made: ({ name, body, now }) => changed(newTeam(name, now), body, now),
    patched: ({ current, body, now }) => changed(current, body, now),
    view: (row) => viewAs(TeamView, row),
  });

const newTeam = (name: string, now: Date): TeamRow => ({
  orgId: DEFAULT_ORG,
  name,
  parent: null,
  costCenter: null,
  budgetUsd: null,
  budgetPeriod: null,
  unpriced: null,
  keyTemplate: null,
  claudeSettings: null,
  createdAt: now.toISOString(),
  updatedAt: now.toISOString(),
});

/** The row with the members of a body. @throws GatewayError invalid_request for words of a budget without one. */
function changed(row: TeamRow, body: TeamPatch, now: Date): TeamRow {
  return {
    ...row,
    parent: body.parent === undefined ? row.parent : body.parent,
    costCenter: body.cost_center === undefined ? row.costCenter : body.cost_center,
    ...changedBudget(row, body),
    keyTemplate: body.key_template === undefined ? row.keyTemplate : body.key_template,
    claudeSettings: body.claude_settings === undefined ? row.claudeSettings : body.claude_settings,
    updatedAt: now.toISOString(),
  };
}
