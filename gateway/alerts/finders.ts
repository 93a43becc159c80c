import { sql } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import type { AlertKind } from "#shared/admin/alerts.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { counted, plural } from "#shared/plural.ts";
import { type ReconciliationDeps, reconciliationOf } from "../bills/reconciliation.ts";
import { parsePico, shortDecimal } from "../limits/money.ts";
import { listUnpricedModels } from "../repricing/unpriced-models.ts";
import { type BudgetInForce, budgetsInForce } from "../stores/budgets.ts";
import { budgetForecasts, costAnomalies, type NamedAnomaly } from "../stores/day-costs.ts";
import type { AlertFinding } from "./alert-rows.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const SELDOM_MS = 10 * 60_000;

/** The database, and what administrators set. */
export type FinderDeps = ReconciliationDeps;

type Finder = {
  /** A state that has not been found for this long may be reported again, in milliseconds. */
  calmMs: number;
  /** How often a gateway looks, where not in each round. */
  everyMs?: number;
  find(tx: Transaction, now: Date, deps: FinderDeps): Promise<AlertFinding[]>;
};

/** What each kind of alert looks for. States that end by themselves name their period or their day. */
export const FINDERS: Readonly<Record<AlertKind, Finder>> = {
  threshold: {
    calmMs: 95 * DAY_MS,
    find: async (tx, now) => (await budgetsInForce(tx, now)).flatMap(thresholdsOf),
  },
  forecast_overrun: { calmMs: 95 * DAY_MS, everyMs: SELDOM_MS, find: overruns },
  anomaly: {
    calmMs: 7 * DAY_MS,
    everyMs: SELDOM_MS,
    find: async (tx, now) => (await costAnomalies(tx, dayBefore(now, 1))).map(anomalyOf),
  },
  unpriced_model: { calmMs: 7 * DAY_MS, everyMs: SELDOM_MS, find: unpricedModels },
  provider_failing: { calmMs: HOUR_MS, find: failingProviders },
  stamped_share_falling: { calmMs: 7 * DAY_MS, everyMs: SELDOM_MS, find: fallingShare },
  reconciliation_gap: { calmMs: 7 * DAY_MS, everyMs: HOUR_MS, find: reconciliationGaps },
};

async function unpricedModels(tx: Transaction, now: Date): Promise<AlertFinding[]> {
  const found = await listUnpricedModels(tx, new Date(now.getTime() - DAY_MS).toISOString());
  const named = found.flatMap(({ provider, model, metered, requests }) =>
    metered && provider !== null && model !== null ? [{ provider, model, requests }] : [],
  );
  return [...Map.groupBy(named, ({ provider, model }) => `${provider}/${model}`)].map(([name, all]) => {
    const requests = all.reduce((sum, one) => sum + one.requests, 0);
    return {
      kind: "unpriced_model",
      state: `unpriced_model ${name}`,
      title: `${name} has no price`,
      text: `${counted(requests, "call")} of the last 24 hours ${plural(requests, "has", "have")} no cost. Enter a price on Prices, then price these records.`,
      facts: { provider: all[0]?.provider ?? null, model: all[0]?.model ?? null, requests },
    };
  });
}

/** Budgets that will be used up before their period ends; those that are used up already reached a threshold. */
async function overruns(tx: Transaction, now: Date): Promise<AlertFinding[]> {
  const budgets = await budgetForecasts(tx, await budgetsInForce(tx, now), now);
  return budgets.flatMap(({ forecast: made, ...budget }) => {
    const [used, amount] = [Number(budget.usedUsd), Number(budget.budgetUsd)];
    if (used >= amount || !made || made.expectedUsd <= amount) return [];
    const [expected, low, high] = [made.expectedUsd, made.lowUsd, made.highUsd].map((usd) => usd.toFixed(2));
    return {
      kind: "forecast_overrun" as const,
      state: `forecast_overrun ${budgetState(budget)}`,
      title: `${budgetWords(budget)} will be exceeded`,
      text: `By ${budget.dates.to}, ${expected} USD are expected (four times of five ${low} to ${high} USD), of ${budget.budgetUsd} USD.`,
      facts: { ...budgetFacts(budget), expected_usd: expected ?? null },
    };
  });
}

function anomalyOf({ kind, name, day, usd, usualUsd }: NamedAnomaly): AlertFinding {
  const [cost, usual] = [usd.toFixed(2), usualUsd.toFixed(2)];
  return {
    kind: "anomaly",
    state: `anomaly ${kind} ${name} ${day}`,
    title: `The ${kind} ${name} cost ${(usd / usualUsd).toFixed(1)} times the usual on ${day}`,
    text: `${cost} USD so far, where this weekday usually costs ${usual} USD.`,
    facts: { scope: kind, name, day, usd: cost, usual_usd: usual },
  };
}

/** A share of failed calls that is news: at least so many of at least so many calls, and this much over the usual share. */
const FAILING = { minutes: 15, calls: 10, failures: 5, share: 0.2, times: 3 };

async function failingProviders(tx: Transaction, now: Date): Promise<AlertFinding[]> {
  const at = sql`${now.toISOString()}::timestamptz`;
  const isRecent = sql`started_at >= ${at} - make_interval(mins => ${FAILING.minutes})`;
  // Of the provider's doing: its 5xx, its silence, and answers that broke off.
  const failed = sql`(state = 'upstream_broken' or (state = 'upstream_error' and status >= 500))`;
  const rows = await tx.execute<
    Record<"recent" | "failures" | "calls" | "usual", number> & { provider: string }
  >(sql`
    select provider, count(*) filter (where ${isRecent})::int as recent,
      count(*) filter (where ${isRecent} and ${failed})::int as failures,
      count(*) filter (where not (${isRecent}))::int as calls,
      count(*) filter (where not (${isRecent}) and ${failed})::int as usual
    from requests where org_id = ${DEFAULT_ORG} and started_at >= ${at} - interval '1 day' and provider is not null
    group by provider order by provider`);
  return rows
    .filter(({ recent, failures, calls, usual }) => {
      const isMany = recent >= FAILING.calls && failures >= FAILING.failures;
      const least = Math.max(FAILING.share, (FAILING.times * usual) / Math.max(calls, 1));
      return isMany && failures / recent >= least;
    })
    .map(({ provider, recent, failures }) => ({
      kind: "provider_failing" as const,
      state: `provider_failing ${provider}`,
      title: `The provider ${provider} fails`,
      text: `${failures} of its ${recent} calls of the last ${FAILING.minutes} minutes failed with a 5xx, a timeout or a broken answer.`,
      facts: { provider, failures, calls: recent },
    }));
}

/** A fall of the share of merges with a session: enough of them, and this many points. */
const FALLING = { merges: 10, points: 0.15 };

async function fallingShare(tx: Transaction, now: Date): Promise<AlertFinding[]> {
  const at = sql`${now.toISOString()}::timestamptz`;
  const isRecent = sql`merged_at >= ${at} - interval '7 days'`;
  const [row] = await tx.execute<Record<"recent" | "joined" | "before" | "joined_before", number>>(sql`
    select count(*) filter (where ${isRecent})::int as recent,
      count(*) filter (where ${isRecent} and link = 'joined')::int as joined,
      count(*) filter (where not (${isRecent}))::int as before,
      count(*) filter (where not (${isRecent}) and link = 'joined')::int as joined_before
    from pull_requests where org_id = ${DEFAULT_ORG} and merged_at >= ${at} - interval '35 days'
      and merged_at < ${at} and not author_is_bot`);
  const { recent = 0, joined = 0, before = 0, joined_before: joinedBefore = 0 } = row ?? {};
  const [share, usual] = [joined / recent, joinedBefore / before];
  if (Math.min(recent, before) < FALLING.merges || usual - share < FALLING.points) return [];
  const percent = (part: number) => `${Math.round(part * 100)} %`;
  return [
    {
      kind: "stamped_share_falling",
      state: "stamped_share_falling",
      title: "Fewer merged pull requests name their session",
      text: `${percent(share)} of the ${recent} merges of the last 7 days are joined to a session; in the four weeks before it were ${percent(usual)}. Pull requests lists those that are not, with the remedy.`,
      facts: { merges: recent, joined, usual_share: percent(usual) },
    },
  ];
}

/** The goal of reconciliation. */
const UNEXPLAINED_MAX = 0.001;

/** Accounts whose bill of the last week cannot be explained; the latest days may still be revised. */
async function reconciliationGaps(_: Transaction, now: Date, deps: FinderDeps): Promise<AlertFinding[]> {
  const window = { from: dayBefore(now, 9), to: dayBefore(now, 3) };
  const { accounts } = await reconciliationOf(deps, window);
  return accounts.flatMap(({ account: name, unexplained_share: share, billed_usd: billed }) =>
    share === null || share <= UNEXPLAINED_MAX
      ? []
      : [
          {
            kind: "reconciliation_gap" as const,
            state: `reconciliation_gap ${name}`,
            title: `The bill of ${name} is not explained`,
            text: `${(share * 100).toFixed(2)} % of ${billed} USD, billed from ${window.from} to ${window.to}, have no known reason. Vendor bills shows the difference by part.`,
            facts: { account: name, unexplained_share: share, billed_usd: billed, ...window },
          },
        ],
  );
}

const dayBefore = (now: Date, days: number): string =>
  new Date(now.getTime() - days * DAY_MS).toISOString().slice(0, 10);

/** Whose budget it is. People's e-mails stay in the console. */
const budgetWords = ({ kind, name }: Pick<BudgetInForce, "kind" | "name">): string =>
  ({
    budget: `The budget ${name}`,
    team: `The budget of the team ${name}`,
    key: `The budget of the key ${name}`,
    person: "A person's budget",
    own_keys: "The budget of a person's own keys",
  })[kind];

/** Distinguishes a budget in its current period, without anyone's e-mail. */
const budgetState = ({ kind, name, account, budgetUsd, period, dates }: BudgetInForce): string =>
  `${kind} ${kind === "budget" ? name : `${account} ${budgetUsd} ${period}`} ${dates.from}`;

const budgetFacts = ({ kind, name, usedUsd, budgetUsd, dates }: BudgetInForce) => ({
  budget: kind === "person" || kind === "own_keys" ? null : name,
  used_usd: shortDecimal(parsePico(usedUsd)),
  amount_usd: shortDecimal(parsePico(budgetUsd)),
  ...dates,
});

/** The thresholds that a budget has reached; only the highest is news. */
function thresholdsOf(budget: BudgetInForce): AlertFinding[] {
  const { thresholds, period, dates, mode } = budget;
  const [used, amount] = [parsePico(budget.usedUsd), parsePico(budget.budgetUsd)];
  const reached = thresholds.filter((one) => used * 100n >= amount * BigInt(one)).toSorted((a, b) => b - a);
  const facts = budgetFacts(budget);
  return reached.map((threshold, at) => ({
    kind: "threshold",
    state: `threshold ${budgetState(budget)} ${threshold}`,
    passed: at > 0,
    title: `${budgetWords(budget)} has reached ${threshold} %`,
    text:
      `${facts.used_usd} USD of ${facts.amount_usd} USD are used in the ${period} from ${dates.from}. ` +
      `It renews on ${dates.to}.${mode === "hard" ? " Calls over it are refused." : ""}`,
    facts: { ...facts, threshold },
  }));
}
