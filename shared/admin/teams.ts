import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, oneOf, Removable, TextOrNull } from "../schema.ts";
import { ClaudeSettings } from "./claude-settings.ts";
import { Dated, Name, SingleLine, Usd } from "./fields.ts";
import { BUDGET_PERIODS, KeyTemplate, UnpricedField } from "./keys.ts";

const members = {
  parent: Removable(Name),
  cost_center: Removable(SingleLine(64, "Default: that of the nearest team above that has one.")),
  budget_usd: Removable(Usd("What the team and the teams below it may spend together per `budget_period`.")),
  budget_period: Removable(oneOf(BUDGET_PERIODS)),
  unpriced: Removable(UnpricedField),
  key_template: Removable({
    ...KeyTemplate,
    description:
      "Scopes and limits of the keys that its people make for themselves. Default: that of the nearest team above that has one, else the setting `own_key_template`.",
  }),
  claude_settings: Removable({
    ...ClaudeSettings,
    description:
      "Claude Code's managed settings for those who sign in with it. Default: that of the nearest team above that has one, else the setting `claude_settings`.",
  }),
};

/** `POST /admin/v1/teams`. */
export const TeamBody = closed({ name: Name, ...members });
/** `PATCH /admin/v1/teams/{name}`: absent members are kept. */
export const TeamPatch = closed(members);
export type TeamPatch = Static<typeof TeamPatch>;

export const TeamView = closed({
  name: Name,
  parent: TextOrNull("The team above."),
  cost_center: nullable(Type.String()),
  budget_usd: TextOrNull("Exact decimal."),
  budget_period: nullable(oneOf(BUDGET_PERIODS)),
  unpriced: nullable(UnpricedField),
  key_template: nullable(KeyTemplate),
  claude_settings: nullable(ClaudeSettings),
  ...Dated,
});
export type TeamView = Static<typeof TeamView>;
