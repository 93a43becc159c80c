import type { BudgetView } from "#shared/admin/budgets.ts";
import type { KeyView } from "#shared/admin/keys.ts";
import type { PersonView } from "#shared/admin/people.ts";
import type { TeamView } from "#shared/admin/teams.ts";
import { BudgetBar } from "../parts/budget-bar.tsx";
import { shareOf } from "../parts/budget-rows.tsx";
import { cell, folded, money, number, text } from "../parts/columns.tsx";
import { utcDay } from "../parts/dates.ts";
import { percent, plainUsd } from "../parts/format.ts";
import { PageHead } from "../parts/page.tsx";
import { Money } from "../parts/values.tsx";
import { KEYS, PEOPLE, TEAMS } from "./callers.tsx";
import { BUDGET, KEY_LIMITS } from "./forms/people-forms.ts";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";

type Budgeted = { budget_usd?: string | number | null; budget_period?: string | null };

const none = "no limit";

const rate = (head: string, of: (limits: NonNullable<KeyView["limits"]>) => number | undefined) =>
  number<KeyView>(head, ({ limits }) => of(limits ?? {}) ?? null, { none });

const budgetColumn = <View,>(of: (view: View) => Budgeted | null | undefined) =>
  number<View>("Budget", (view) => amountOf(of(view)?.budget_usd), {
    show: (view) => `${plainUsd(of(view)?.budget_usd ?? 0)} a ${of(view)?.budget_period ?? "month"}`,
    none,
  });
const amountOf = (usd: Budgeted["budget_usd"]): number | null => (usd == null ? null : Number(usd));

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
  columns: {
    name: text("Key", ({ name }) => name),
    budget: budgetColumn(({ limits }) => limits),
    owner: text("Owner", ({ owner }) => owner, "service account"),
    counts: text("Counts", ({ own }) => (own ? "all keys that the owner made" : "this key")),
    requests_per_minute: rate("Requests a minute", (it) => it.requests_per_minute),
    tokens_per_minute: rate("Tokens a minute", (it) => it.tokens_per_minute),
    concurrency: rate("At once", (it) => it.concurrency),
  },
  pick: limitedFirst(
    ({ limits, status }: KeyView) => status === "active" && Object.keys(limits ?? {}).length > 0,
  ),
  form: KEY_LIMITS,
};

const TEAM_BUDGETS: ResourceFacts<TeamView> = {
  ...TEAMS,
  title: "Budgets of teams",
  columns: {
    name: text("Team", ({ name }) => name),
    budget: budgetColumn((team) => team),
    parent: text("Below", ({ parent }) => parent, "no team"),
  },
  pick: limitedFirst(hasBudget),
};

const BUDGETS_OF_PEOPLE: ResourceFacts<PersonView> = {
  ...PEOPLE,
  title: "Budgets of people",
  sub: "A person's budget counts all of their keys together.",
  columns: {
    email: text("Person", ({ email }) => email),
    budget: budgetColumn((person) => person),
    team: text("Team", ({ team }) => team, "no team"),
  },
  pick: limitedFirst(hasBudget),
};

const PLACES = { team: "the team", person: "the person", own_keys: "own keys together", key: "the key" };

const countedOf = ({ kind, on }: BudgetView): string =>
  kind !== "budget" ? PLACES[kind] : on.id === null ? "the organisation" : `the ${on.kind} ${on.id}`;

const NO_FORECAST = "Too few calls are known to forecast it.";

const ALL_BUDGETS: ResourceFacts<BudgetView> = {
  path: "/admin/v1/budgets",
  title: "Budgets",
  noun: "budget",
  sub: "A call needs room in every hard budget that it counts in; a soft one only alerts. Budgets of teams, people and keys are set below.",
  idOf: ({ kind, name, amount_usd: usd, period }) =>
    kind === "budget" ? name : `${kind} ${name} ${usd} ${period}`,
  columns: {
    name: text("Budget", ({ name }) => name),
    on: folded(text("Counts calls of", countedOf)),
    share: cell(
      "Used",
      (view) => (
        <>
          <Money value={view.used_usd} /> <span className="mute">of</span> <Money value={view.amount_usd} /> a{" "}
          {view.period}, {percent(shareOf(view))}
          <BudgetBar share={shareOf(view)} />
        </>
      ),
      shareOf,
    ),
    forecast: money(
      "Forecast",
      ({ forecast }) => forecast?.expected_usd,
      () => ({ unknown: NO_FORECAST }),
    ),
    to: text("Renews", ({ to }) => utcDay(Date.parse(to))),
    mode: text("Mode", ({ mode }) => mode),
    thresholds: text(
      "Alerts at",
      ({ thresholds }) => thresholds.map((one) => `${one} %`).join(", "),
      "nothing",
    ),
  },
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
