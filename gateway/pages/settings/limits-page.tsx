import type { KeyView } from "#shared/admin/keys.ts";
import type { TeamView } from "#shared/admin/teams.ts";
import { PageHead } from "../parts/page-head.tsx";
import { textColumn } from "./cells.tsx";
import { KEYS, LIMIT_FIELDS } from "./key-facts.tsx";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";
import { TEAMS } from "./team-facts.tsx";

type Budgeted = { budget_usd?: string | number | null; budget_period?: string | null };

const budget = ({ budget_usd: usd, budget_period: period }: Budgeted): string | null =>
  usd == null ? null : `$${usd} a ${period ?? "month"}`;

const rate = (value: number | undefined): string | null =>
  value === undefined ? null : value.toLocaleString();

const KEY_LIMITS: ResourceFacts<KeyView> = {
  ...KEYS,
  title: "Limits of keys",
  sub: "A limit applies across all gateways. A used-up budget answers 402, the other limits 429.",
  columns: [
    textColumn("name", "Key", { of: ({ name }) => name }),
    textColumn("owner", "Owner", { of: ({ owner }) => owner, none: "service account" }),
    textColumn("requests", "Requests a minute", {
      of: ({ limits }) => rate(limits?.requests_per_minute),
      none: "no limit",
    }),
    textColumn("tokens", "Tokens a minute", {
      of: ({ limits }) => rate(limits?.tokens_per_minute),
      none: "no limit",
    }),
    textColumn("concurrency", "At once", { of: ({ limits }) => rate(limits?.concurrency), none: "no limit" }),
    textColumn("budget", "Budget", {
      of: ({ limits }) => (limits ? budget(limits) : null),
      none: "no limit",
    }),
  ],
  fields: [{ name: "name", label: "Name", kind: "text", required: true }, ...LIMIT_FIELDS],
};

const TEAM_BUDGETS: ResourceFacts<TeamView> = {
  ...TEAMS,
  title: "Budgets of teams",
  columns: [
    textColumn("name", "Team", { of: ({ name }) => name }),
    textColumn("parent", "Below", { of: ({ parent }) => parent, none: "no team" }),
    textColumn("budget", "Budget", { of: budget, none: "no limit" }),
  ],
};

/** What keys and teams may use and spend. */
export const LimitsPage = () => (
  <>
    <PageHead title="Limits and budgets" />
    <ResourcePanel facts={KEY_LIMITS} />
    <ResourcePanel facts={TEAM_BUDGETS} />
  </>
);
