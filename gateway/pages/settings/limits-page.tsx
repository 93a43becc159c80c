import type { BudgetView } from "#shared/admin/budgets.ts";
import type { KeyView } from "#shared/admin/keys.ts";
import type { PersonView } from "#shared/admin/people.ts";
import type { TeamView } from "#shared/admin/teams.ts";
import { BudgetBar } from "../parts/budget-bar.tsx";
import { utcDay } from "../parts/dates.ts";
import { count, percent, plainUsd } from "../parts/format.ts";
import { Money } from "../parts/money.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { numberColumn, textColumn } from "./cells.tsx";
import { BUDGET, KEY_LIMITS } from "./forms/people-forms.ts";
import { KEYS } from "./key-facts.tsx";
import { PEOPLE } from "./person-facts.tsx";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";
import { TEAMS } from "./team-facts.tsx";

type Budgeted = { budget_usd?: string | number | null; budget_period?: string | null };

const budget = ({ budget_usd: usd, budget_period: period }: Budgeted): string | null =>
  usd == null ? null : `${plainUsd(usd)} a ${period ?? "month"}`;

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

const shareUsed = ({ used_usd: used, amount_usd: usd }: BudgetView): number =>
  Number(usd) > 0 ? Number(used) / Number(usd) : 1;

const PLACES = { team: "the team", person: "the person", own_keys: "own keys together", key: "the key" };

const countedOf = ({ kind, on }: BudgetView): string =>
  kind !== "budget" ? PLACES[kind] : on.id === null ? "the organisation" : `the ${on.kind} ${on.id}`;

const ALL_BUDGETS: ResourceFacts<BudgetView> = {
  path: "/admin/v1/budgets",
  title: "Budgets",
  noun: "budget",
  sub: "A call needs room in every hard budget that it counts in; a soft one only alerts. Budgets of teams, people and keys are set below.",
  idOf: ({ kind, name, amount_usd: usd, period }) =>
    kind === "budget" ? name : `${kind} ${name} ${usd} ${period}`,
  columns: [
    textColumn("name", "Budget", { of: ({ name }) => name }),
    textColumn("on", "Counts calls of", { of: countedOf }),
    {
      id: "share",
      head: "Used",
      sort: shareUsed,
      cell: (view) => (
        <>
          <Money value={view.used_usd} /> <span className="mute">of</span> <Money value={view.amount_usd} /> a{" "}
          {view.period}, {percent(shareUsed(view))}
          <BudgetBar share={shareUsed(view)} />
        </>
      ),
    },
    {
      id: "forecast",
      head: "Forecast",
      isNumber: true,
      sort: ({ forecast }) => Number(forecast?.expected_usd ?? Number.NaN) || null,
      cell: ({ forecast }) =>
        forecast ? <Money value={forecast.expected_usd} /> : <span className="mute">–</span>,
    },
    textColumn("to", "Renews", { of: ({ to }) => utcDay(Date.parse(to)) }),
    textColumn("mode", "Mode", { of: ({ mode }) => mode }),
    textColumn("thresholds", "Alerts at", {
      of: ({ thresholds }) => thresholds.map((one) => `${one} %`).join(", "),
      none: "nothing",
    }),
  ],
  form: BUDGET,
  empty: "Set one for the organisation, a route or a tag, or another one for a team, a person or a key.",
  removal: { verb: "Delete", effect: "Calls no longer count in it." },
  isElsewhere: ({ kind }) => kind !== "budget",
};

/** What keys, people and teams may use and spend. */
export const LimitsPage = () => (
  <>
    <PageHead title="Limits and budgets" />
    <ResourcePanel facts={ALL_BUDGETS} />
    <ResourcePanel facts={LIMITS_OF_KEYS} />
    <ResourcePanel facts={BUDGETS_OF_PEOPLE} />
    <ResourcePanel facts={TEAM_BUDGETS} />
  </>
);
