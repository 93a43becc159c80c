import { Elysia } from "elysia";
import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { ClientKey } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { type Pico, parsePico } from "../limits/money.ts";
import { budgetPeriodAt } from "../limits/window.ts";
import { type CallerCheck, clientKey } from "../plugins/client-key.ts";
import { spentSince } from "../stores/keys.ts";
import { withStoreErrors } from "../stores/store-errors.ts";

export type ClaudeUsageDeps = { callers: CallerCheck; database: Database; clock: Clock };

/** `GET /api/oauth/usage`: what Claude Code's `/usage` shows of the budgets that its calls count in. */
export const claudeUsage = (deps: ClaudeUsageDeps) =>
  new Elysia({ name: "surface.claude-usage" })
    .use(clientKey(deps.callers))
    .get("/api/oauth/usage", ({ caller }) => usageOf(deps, caller.key), {
      clientKey: true,
      detail: {
        tags: ["Claude Code"],
        summary: "What is used of the caller's budgets, as Claude Code reads it",
        description:
          "Each budget of the key, its team and the teams above as an entry of `limits`; `extra_usage` is the fullest, in US cents.",
        security: [{ clientKey: [] }],
        responses: {
          "200": { description: "The budgets." },
          "401": { description: "No valid client key." },
          "404": { description: "No budget limits the key." },
          "503": { description: "The database is unavailable at the moment." },
        },
      },
    });

const PERIODS = { day: "daily", month: "monthly" } as const;
type Used = { spent: Pico; budget: Pico; percent: number; group: string; resetsAt: string };

async function usageOf(deps: ClaudeUsageDeps, key: ClientKey) {
  const limits = [{ id: key.id, limits: key.limits ?? {} }, ...key.teamBudgets];
  const found = await Promise.all(limits.map((account) => usedOf(deps, account)));
  const used = found.filter((it) => it !== null).toSorted((a, b) => b.percent - a.percent);
  const [fullest] = used;
  if (!fullest) throw new GatewayError("not_found", "No budget limits this key.");
  return {
    extra_usage: {
      is_enabled: true,
      monthly_limit: cents(fullest.budget),
      used_credits: cents(fullest.spent),
      utilization: fullest.percent,
      currency: "USD",
    },
    limits: used.map((it) => ({
      kind: "spend",
      group: it.group,
      percent: it.percent,
      resets_at: it.resetsAt,
      severity: severityOf(it.percent),
      is_active: it === fullest,
    })),
  };
}

type BudgetAccount = { id: string; limits: NonNullable<ClientKey["limits"]> };

/** What is used of a budget in its current period; null: there is no budget. */
async function usedOf(
  { database, clock }: ClaudeUsageDeps,
  { id, limits }: BudgetAccount,
): Promise<Used | null> {
  if (limits.budget_usd === undefined) return null;
  const period = limits.budget_period ?? "month";
  const { from, to } = budgetPeriodAt(period, clock.now());
  const spent = parsePico((await withStoreErrors(() => spentSince(database.db, [id], from))).get(id) ?? "0");
  const budget = parsePico(limits.budget_usd);
  const percent = percentOf(spent, budget);
  return { spent, budget, percent, group: PERIODS[period], resetsAt: `${to}T00:00:00.000Z` };
}

const PICO_PER_CENT = 10_000_000_000n;
const cents = (pico: Pico): number => Number(pico / PICO_PER_CENT);
/** Whole percents, at most 100; 100 only for a budget that is used up. */
const percentOf = (spent: Pico, budget: Pico): number =>
  spent >= budget ? 100 : Number((spent * 100n) / budget);

/** Claude Code's own bounds for its warnings. */
const severityOf = (percent: number): string =>
  percent > 95 ? "critical" : percent > 75 ? "warning" : "normal";
