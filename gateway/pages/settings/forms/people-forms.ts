import { Type } from "@sinclair/typebox";
import { BudgetBody, BudgetPatch } from "#shared/admin/budgets.ts";
import { KeyBody, KeyPatch } from "#shared/admin/keys.ts";
import { OwnKeyBody } from "#shared/admin/me.ts";
import { PersonBody, PersonPatch } from "#shared/admin/people.ts";
import { RoleMappingBody, RoleMappingPut } from "#shared/admin/role-mappings.ts";
import { TeamBody, TeamPatch } from "#shared/admin/teams.ts";
import { TokenBody } from "#shared/admin/tokens.ts";
import { Settings } from "#shared/settings.ts";
import { formOf, type Words } from "./field.ts";

/** How people, what belongs to them, and settings are entered: labels in the order of the forms. */

const BUDGET_PERIOD: Words = { label: "Budget period", none: "month (the default)" };
const UNPRICED: Words = {
  label: "Models without a price",
  none: "refuse (the default)",
  help: "No budget can bound the cost of their calls. `refuse`: they get 403. `allow`: they count as nothing.",
};
const WHEN_AWAY: Words = { label: "While the database is away", none: "local (the default)" };
const CLAUDE_SETTINGS = {
  label: "Claude Code's managed settings",
  item: "setting",
  help: "What a managed-settings.json would contain, one value in each row.",
};
const EXPIRES: Words = "Expires";
const ROLE: Words = {
  label: "Role",
  help: "Members see their own records. Managers see those of their team and the teams below it, or all without a team.",
};
const LIMITS: Words = {
  label: "Limits",
  help: "Empty: no limit.",
  members: {
    requests_per_minute: "Requests per minute",
    tokens_per_minute: "Tokens per minute",
    concurrency: { label: "Calls at once", help: "" },
    budget_usd: { label: "Budget, USD", placeholder: "25.00", help: "Per budget period." },
    budget_period: BUDGET_PERIOD,
    unpriced: UNPRICED,
    when_away: WHEN_AWAY,
  },
};
const KEY_RIGHTS = {
  scopes: {
    label: "May use",
    members: {
      routes: { label: "Routes", nothing: "No route", suggest: "route" },
      models: { label: "Models", nothing: "No concrete model", suggest: "model" },
      mcp: { label: "Tool servers", nothing: "No tool", suggest: "tool_server" },
      providers: { label: "Providers' own addresses", help: "Empty: none.", suggest: "provider" },
      reports: "May read reports",
    },
  },
  limits: LIMITS,
} satisfies Record<string, Words>;

export const KEY = formOf(KeyBody, KeyPatch, {
  name: "Name",
  owner: { label: "Owner", placeholder: "ada@example.com", suggest: "person" },
  service: "For a program, such as CI: it does not open My usage",
  team: { label: "Team", suggest: "team" },
  ...KEY_RIGHTS,
  expires_at: EXPIRES,
});
export const KEY_LIMITS = formOf(KeyBody, KeyPatch, { name: "Name", limits: LIMITS });
export const OWN_KEY = formOf(OwnKeyBody, null, {
  name: { label: "Name", placeholder: "laptop" },
  expires_at: EXPIRES,
});

export const PERSON = formOf(PersonBody, PersonPatch, {
  email: { label: "E-mail", help: "Use the same address as the owner of their keys." },
  name: "Name",
  github_login: "GitHub login",
  role: ROLE,
  team: { label: "Team", help: "", suggest: "team" },
  budget_usd: { label: "Budget, USD", help: "For all keys of the person together." },
  budget_period: BUDGET_PERIOD,
  unpriced: UNPRICED,
  disabled: { label: "Disabled", help: "Ends the person's sessions and revokes their keys for good." },
});

export const TEAM = formOf(TeamBody, TeamPatch, {
  name: "Name",
  parent: { label: "Team above", help: "", suggest: "team" },
  cost_center: { label: "Cost centre", placeholder: "CC-100" },
  budget_usd: { label: "Budget, USD", help: "For the team and the teams below it together." },
  budget_period: BUDGET_PERIOD,
  unpriced: UNPRICED,
  key_template: {
    label: "Its people's own keys",
    help: "Scopes and limits of the keys that its people make for themselves. Off: as the nearest team above, else as Settings say.",
    toggle: "A template for this team",
    members: KEY_RIGHTS,
  },
  claude_settings: CLAUDE_SETTINGS,
});

export const BUDGET = formOf(BudgetBody, BudgetPatch, {
  name: "Name",
  on: {
    label: "Counts calls",
    members: {
      kind: { label: "Of", help: "" },
      id: { label: "Which", help: "The name; for a person the e-mail. Empty for the organisation." },
    },
  },
  amount_usd: { label: "Amount, USD", placeholder: "5000.00" },
  period: { label: "Period", none: "month (the default)" },
  mode: { label: "Mode", none: "hard (the default)" },
  thresholds: { label: "Alert at", item: "per cent" },
  unpriced: UNPRICED,
  when_away: WHEN_AWAY,
});

export const TOKEN = formOf(TokenBody, null, {
  name: "Name",
  scopes: { label: "Only for", help: "Or choose a role." },
  role: { ...(ROLE as object), label: "Role", none: "none: only the above" },
  team: { label: "Team", suggest: "team" },
  repository: {
    label: "Repository",
    help: "Pull requests of this one only. Empty: of all.",
    placeholder: "owner/name",
    suggest: "repository",
  },
  expires_at: "Ends",
});

/** A change replaces what a group gives. */
export const ROLE_MAPPING = {
  ...formOf(RoleMappingBody, Type.Omit(RoleMappingPut, ["group"]), {
    group: "Group",
    role: ROLE,
    team: { label: "Team", help: "", suggest: "team" },
  }),
  replaces: true as const,
};

const settings = (words: { [M in keyof Settings]?: Words }) =>
  formOf(Settings, Type.Partial(Settings), words);

export const CALL_SETTINGS = settings({
  default_route: { label: "Default route", suggest: "route" },
  retention_days: "Keep single records for, days",
  report_time_zone: { label: "Time zone of reports", placeholder: "Europe/Berlin", suggest: "time_zone" },
  batch_basis: "Price batches at",
  prices_auto: "Price this month's records of new models at once",
  cors_origins: { label: "Web pages that may call, by origin", placeholder: "https://app.example.com" },
});
export const AGENT_SETTINGS = settings({
  metrics_receiver: "Accept agents' own metrics at /otel/v1/metrics",
  hooks: "Accept events of managed hooks at /hooks/v1/events",
  claude_settings: CLAUDE_SETTINGS,
  own_key_template: { label: "People's own keys", members: KEY_RIGHTS },
});
export const SIGN_IN_SETTINGS = settings({
  sign_in: {
    label: "Who may sign in",
    members: {
      allowed_domains: { label: "E-mail domains", placeholder: "example.com" },
      required_groups: "Groups, one of which is needed",
    },
  },
});
export const DIGEST_SETTINGS = settings({
  digest_repository: {
    label: "Repository",
    help: "The App opens the digest there as an issue. It needs the permission Issues, to read and write. Empty: none.",
    placeholder: "owner/name",
    suggest: "repository",
  },
  digest_day: "Day",
  digest_hour: { label: "Hour, UTC", help: "" },
});
export const APP_SETTINGS = settings({
  pull_request_stamping: "Join merged pull requests to sessions",
  not_stamped_bots: "Count bots' pull requests as not stamped",
  pull_request_backfill_days: "Read back, days",
});
export const FEEDBACK_SETTINGS = settings({
  pull_request_check: {
    label: "A check run on each pull request",
    help: "The App needs the permission Checks, to read and write.",
  },
  pull_request_comment: {
    label: "A comment with the cost on merged pull requests",
    help: "The App needs the permission Pull requests, to read and write.",
  },
  feedback_include: {
    label: "Public repositories to include",
    placeholder: "owner/name",
    suggest: "repository",
  },
  feedback_exclude: { label: "Repositories to leave out", suggest: "repository" },
});
