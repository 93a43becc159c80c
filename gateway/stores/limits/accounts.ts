import type { BoundedQuery } from "#drizzle/deadline-pool.ts";
import type { Limits, SharedBudget } from "#drizzle/schema/budgets.ts";
import type { Clock } from "#shared/clock.ts";
import type { ClientKey } from "../../directory.ts";
import { Account } from "../../limits/account.ts";
import type { Admission, AskingCall } from "../../limits/admission.ts";
import type { Pico } from "../../limits/money.ts";
import { type BudgetPeriod, budgetPeriodAt } from "../../limits/window.ts";
import type { RoundAccount, Rounds } from "./rounds.ts";

/**
 * Whose limits they are (`of`): a key's, those that the keys made by its owner share, its owner's budget, the budget of
 * its `team`, or a named `budget`. `id` is their account; what is spent of a budget is booked under `spendId`.
 */
export type LimitedKey = Omit<ClientKey, "limits"> & {
  of: "key" | "own_keys" | "person" | "team" | "budget";
  spendId: string;
  limits: Limits;
} & Pick<SharedBudget, "team" | "budget">;

/** The key's limits, the budgets of its owner, of its team and of the teams above it, and those with names of their own. */
export function limitedKeys({ limits, person, ...key }: ClientKey): LimitedKey[] {
  const found: LimitedKey[] = [];
  if (isLimiting(limits)) {
    const shared =
      key.own && person ? { id: person.ownKeys, spendId: person.id, of: "own_keys" as const } : null;
    found.push({ ...key, spendId: key.id, of: "key", ...shared, limits });
  }
  if (person?.budget) {
    found.push({ ...key, id: person.id, spendId: person.id, of: "person", limits: person.budget });
  }
  for (const it of key.sharedBudgets) {
    found.push({ ...key, spendId: it.id, ...it, of: it.budget ? "budget" : "team" });
  }
  return found;
}

/** Whether a call counts in any limits. */
export const isLimited = ({ limits, person, sharedBudgets }: ClientKey): boolean =>
  isLimiting(limits) || (person?.budget ?? null) !== null || sharedBudgets.length > 0;

const isLimiting = (limits: Limits | null): limits is Limits =>
  limits !== null && Object.keys(limits).length > 0;

/** An account in one period. */
export type OpenAccount = RoundAccount & {
  admit(call: AskingCall): Admission | Promise<Admission>;
  isIdle(): boolean;
};

type AccountsDeps = {
  query: BoundedQuery;
  holder: string;
  clock: Clock;
  rounds: Rounds;
  /** The least that the records of a period have cost. */
  spentIn(accountId: string, period: BudgetPeriod): Pico;
};

export type Accounts = ReturnType<typeof openAccounts>;

/** One for each account and period that has calls. */
export function openAccounts(deps: AccountsDeps) {
  const opened = new Map<string, OpenAccount>();
  return {
    of({ id, spendId, limits }: LimitedKey, admittedAt: Date): OpenAccount {
      const period = budgetPeriodAt(limits.budget_period ?? "month", admittedAt);
      const name = `${id} ${period.from} ${period.to}`;
      const known = opened.get(name);
      if (known) return known;
      const made = openAccount(deps, { id, spendId, period });
      opened.set(name, made);
      return made;
    },
    all: (): OpenAccount[] => [...opened.values()],
    /** Drops idle accounts, and returns their leases. */
    async releaseIdle(): Promise<void> {
      for (const [name, { id, figures, isIdle }] of [...opened]) {
        if (!isIdle()) continue;
        opened.delete(name);
        // The lease may be of the next period already.
        await deps.query(
          (sql) => sql`delete from limit_leases where key_id = ${id} and holder = ${deps.holder}
            and period = ${figures.period.from}::text::date`,
        );
      }
    },
  };
}

/** Longer than a slot of the rate limits counts. */
const IDLE_MS = 90_000;

type AccountFacts = Pick<OpenAccount, "id" | "spendId"> & { period: BudgetPeriod };

function openAccount(
  { clock, rounds, spentIn }: AccountsDeps,
  { id, spendId, period }: AccountFacts,
): OpenAccount {
  const figures = new Account(period, spentIn(spendId, period), clock);
  const account = { id, spendId, figures };
  let usedAtMs = clock.monotonicMs();
  return {
    ...account,
    admit(call) {
      usedAtMs = clock.monotonicMs();
      figures.limits = call.limits;
      return rounds.admit(account, call);
    },
    isIdle: () => figures.isQuiet() && clock.monotonicMs() - usedAtMs > IDLE_MS,
  };
}
