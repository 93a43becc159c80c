import { type Static, Type } from "@sinclair/typebox";
import { QUERY_FACTS, RESULT_MEMBERS } from "../report-query.ts";
import { closed, Flag, nullable, Removable, Text, TextOrNull } from "../schema.ts";
import { BudgetView } from "./budgets.ts";
import { Instant, SingleLine } from "./fields.ts";
import { KeyView } from "./keys.ts";
import { RoleField } from "./people.ts";

export const OwnSession = closed({
  id: Type.String({ format: "uuid" }),
  current: Flag("Whether it is the one that asks."),
  address: TextOrNull("IP address that signed in."),
  user_agent: nullable(Type.String()),
  created_at: Type.String(),
  expires_at: Text("Later with every request, up to seven days after `created_at`."),
});
export type OwnSession = Static<typeof OwnSession>;

const OwnMonth = closed({
  cost_usd: TextOrNull("Exact decimal: own calls since the month began (UTC)."),
  floor: Flag("The cost is a lower bound: not every call's cost is known."),
  budget_usd: Type.Optional(
    Text(
      "The monthly budget that limits you most: yours, or those of your valid keys together. Absent without one.",
    ),
  ),
  budget_left_usd: Type.Optional(Text("What is left of it.")),
});

/** `GET /v1/me`. */
export const Me = closed({
  email: Type.String(),
  name: Type.String(),
  role: RoleField,
  team: nullable(Type.String()),
  github_login: TextOrNull("The linked GitHub account's login."),
  report_time_zone: Text(
    "IANA time zone in which days, weeks and months of reports begin; budgets have those of UTC.",
  ),
  month: OwnMonth,
  keys: Type.Array(KeyView),
  sessions: Type.Array(OwnSession),
});
export type Me = Static<typeof Me>;

const OwnResult = closed(RESULT_MEMBERS);

/** `GET /v1/me/overview`: reports of one snapshot, and the budgets in which one's calls count. */
export const OwnOverview = closed({
  month: OwnResult,
  days: OwnResult,
  groups: OwnResult,
  budgets: Type.Array(BudgetView, { description: "The fullest first; their periods are those of UTC." }),
  time_zone: QUERY_FACTS.time_zone,
});
export type OwnOverview = Static<typeof OwnOverview>;

/** `POST /v1/me/keys`. Scopes and limits come from the team's or the installation's template. */
export const OwnKeyBody = closed({
  name: SingleLine(64, "For yourself; others see it with your e-mail behind it."),
  expires_at: Removable(Instant("The key is refused from then on. Null: never.")),
});

export const OWN_KEYS_MAX = 10;

/** Dimensions that a person's own usage can be grouped by. */
export const OWN_DIMENSIONS = ["day", "week", "month", "model", "client", "route", "key", "session"] as const;

/** `GET /v1/me/keys`. */
export const OwnKeys = closed({ data: Type.Array(KeyView) });
/** `GET /v1/me/sessions`. */
export const OwnSessions = closed({ data: Type.Array(OwnSession) });
