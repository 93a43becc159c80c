import type { KeyView } from "#shared/admin/keys.ts";
import type { PersonView } from "#shared/admin/people.ts";
import type { TeamView } from "#shared/admin/teams.ts";
import { count } from "../parts/format.ts";
import { PageHead } from "../parts/page-head.tsx";
import { numberColumn, textColumn } from "./cells.tsx";
import { KEY_LIMITS } from "./forms/people-forms.ts";
import { KEYS } from "./key-facts.tsx";
import { PEOPLE } from "./person-facts.tsx";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";
import { TEAMS } from "./team-facts.tsx";

type Budgeted = { budget_usd?: string | number | null; budget_period?: string | null };

const budget = ({ budget_usd: usd, budget_period: period }: Budgeted): string | null =>
  usd == null ? null : `$${usd} a ${period ?? "month"}`;

const NO_LIMIT = "no limit";

const rate = (value: number | undefined): string | null => (value === undefined ? null : count(value));

type Rate = "requests_per_minute" | "tokens_per_minute" | "concurrency";

const rateColumn = (name: Rate, head: string) =>
  numberColumn<KeyView>(name, head, {
    of: ({ limits }) => rate(limits?.[name]),
    by: ({ limits }) => limits?.[name] ?? null,
    none: NO_LIMIT,
  });

const budgetColumn = <View,>(of: (view: View) => Budgeted | null) =>
  numberColumn<View>("budget", "Budget", {
    of: (view) => budget(of(view) ?? {}),
    by: (view) => Number(of(view)?.budget_usd ?? Number.NaN) || null,
    none: NO_LIMIT,
  });

/** Those with a limit first. */
const limitedFirst =
  <Limited,>(isLimited: (view: Limited) => boolean) =>
  <View extends Limited>(views: readonly View[]): View[] => [
    ...views.filter(isLimited),
    ...views.filter((it) => !isLimited(it)),
  ];
const hasBudget = ({ budget_usd: usd }: Budgeted) => usd != null;

const LIMITS_OF_KEYS: ResourceFacts<KeyView> = {
  ...KEYS,
  title: "Limits of keys",
  sub: "Limits apply across all gateways. A call over budget gets 402; over another limit, 429.",
  columns: [
    textColumn("name", "Key", { of: ({ name }) => name }),
    budgetColumn(({ limits }) => limits),
    textColumn("owner", "Owner", { of: ({ owner }) => owner, none: "service account" }),
    textColumn("counts", "Counts", { of: ({ own }) => (own ? "all keys that the owner made" : "this key") }),
    rateColumn("requests_per_minute", "Requests a minute"),
    rateColumn("tokens_per_minute", "Tokens a minute"),
    rateColumn("concurrency", "At once"),
  ],
  pick: limitedFirst(
    ({ limits, status }: KeyView) => status === "active" && Object.keys(limits ?? {}).length > 0,
  ),
  form: KEY_LIMITS,
};

const TEAM_BUDGETS: ResourceFacts<TeamView> = {
  ...TEAMS,
  title: "Budgets of teams",
  columns: [
    textColumn("name", "Team", { of: ({ name }) => name }),
    budgetColumn((team) => team),
    textColumn("parent", "Below", { of: ({ parent }) => parent, none: "no team" }),
  ],
  pick: limitedFirst(hasBudget),
};

const BUDGETS_OF_PEOPLE: ResourceFacts<PersonView> = {
  ...PEOPLE,
  title: "Budgets of people",
  sub: "A person's budget counts all of their keys together.",
  columns: [
    textColumn("email", "Person", { of: ({ email }) => email }),
    budgetColumn((person) => person),
    textColumn("team", "Team", { of: ({ team }) => team, none: "no team" }),
  ],
  pick: limitedFirst(hasBudget),
};

/** What keys, people and teams may use and spend. */
export const LimitsPage = () => (
  <>
    <PageHead title="Limits and budgets" />
    <ResourcePanel facts={LIMITS_OF_KEYS} />
    <ResourcePanel facts={BUDGETS_OF_PEOPLE} />
    <ResourcePanel facts={TEAM_BUDGETS} />
  </>
);
