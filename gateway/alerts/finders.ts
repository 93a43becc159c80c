import type { Transaction } from "#drizzle/database.ts";
import type { AlertKind } from "#shared/admin/alerts.ts";
import { parsePico, shortDecimal } from "../limits/money.ts";
import { listUnpricedModels } from "../repricing/unpriced-models.ts";
import { type BudgetInForce, budgetsInForce } from "../stores/budgets.ts";
import type { AlertFinding } from "./alert-rows.ts";

const DAY_MS = 86_400_000;

type Finder = {
  /** A state that has not been found for this long may be reported again, in milliseconds. */
  calmMs: number;
  find(tx: Transaction, now: Date): Promise<AlertFinding[]>;
};

/** What each kind of alert looks for. */
export const FINDERS: Readonly<Record<AlertKind, Finder>> = {
  // A state names its period, so that it ends with it.
  threshold: {
    calmMs: 95 * DAY_MS,
    find: async (tx, now) => (await budgetsInForce(tx, now)).flatMap(thresholdsOf),
  },
  unpriced_model: {
    calmMs: 7 * DAY_MS,
    find: async (tx, now) => {
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
          text: `${requests} calls of the last 24 hours have no cost. Enter a price on Prices, then price these records.`,
          facts: { provider: all[0]?.provider ?? null, model: all[0]?.model ?? null, requests },
        };
      });
    },
  },
};

/** Whose budget it is. People's e-mails stay in the console. */
export const budgetWords = ({ kind, name }: Pick<BudgetInForce, "kind" | "name">): string =>
  ({
    budget: `The budget ${name}`,
    team: `The budget of the team ${name}`,
    key: `The budget of the key ${name}`,
    person: "A person's budget",
    own_keys: "The budget of a person's own keys",
  })[kind];

/** The thresholds that a budget has reached; only the highest is news. */
function thresholdsOf(budget: BudgetInForce): AlertFinding[] {
  const { kind, name, account, thresholds, period, dates, mode } = budget;
  const [used, amount] = [parsePico(budget.usedUsd), parsePico(budget.budgetUsd)];
  const reached = thresholds.filter((one) => used * 100n >= amount * BigInt(one)).toSorted((a, b) => b - a);
  const whose = kind === "budget" ? name : `${account} ${budget.budgetUsd} ${period}`;
  return reached.map((threshold, at) => ({
    kind: "threshold",
    state: `threshold ${kind} ${whose} ${dates.from} ${threshold}`,
    passed: at > 0,
    title: `${budgetWords(budget)} has reached ${threshold} %`,
    text:
      `${shortDecimal(used)} USD of ${shortDecimal(amount)} USD are used in the ${period} from ${dates.from}. ` +
      `It renews on ${dates.to}.${mode === "hard" ? " Calls over it are refused." : ""}`,
    facts: {
      budget: kind === "budget" || kind === "team" || kind === "key" ? name : null,
      threshold,
      used_usd: shortDecimal(used),
      amount_usd: shortDecimal(amount),
      from: dates.from,
      to: dates.to,
    },
  }));
}
