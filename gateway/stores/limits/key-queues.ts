import type { ClientKey } from "../../directory.ts";
import type { Pico } from "../../limits/money.ts";
import { type BudgetPeriod, budgetPeriodAt } from "../../limits/window.ts";
import type { LimitAccount } from "./away-sql.ts";
import { createKeyAccount, type KeyAccount } from "./key-account.ts";
import { createKeyQueue, type KeyQueue, type KeyQueueDeps } from "./key-queue.ts";

/** Whose limits they are: a key's, or the budget of the key's `team`. */
export type Account = ClientKey & { team?: string };

/** `recorded`: the call leaves a record, which removes its reservation. */
export type LimitedCall = { id: string; key: Account; admittedAt: Date; recorded: boolean };

/** A key's queue in one period, with its figures. */
export type OpenQueue = { account: LimitAccount; figures: KeyAccount; queue: KeyQueue };

type QueuesDeps = Omit<KeyQueueDeps, "account" | "figures" | "spent" | "clock"> & {
  clock: Parameters<typeof createKeyAccount>[0];
  spentBy(keyId: string, period: BudgetPeriod): Pico;
};

/** One queue for each key and period that has calls. */
export function createKeyQueues({ spentBy, ...deps }: QueuesDeps) {
  const queues = new Map<string, OpenQueue>();
  return {
    of({ key, admittedAt }: LimitedCall): OpenQueue {
      const period = budgetPeriodAt(key.limits?.budget_period ?? "month", admittedAt);
      const name = `${key.id} ${period.from} ${period.to}`;
      const known = queues.get(name);
      if (known) return known;
      const account = { keyId: key.id, period };
      const figures = createKeyAccount(deps.clock);
      const spent = () => spentBy(key.id, period);
      const made = { account, figures, queue: createKeyQueue({ ...deps, account, figures, spent }) };
      queues.set(name, made);
      return made;
    },
    all: (): OpenQueue[] => [...queues.values()],
    /** Forgets idle keys, and returns what they leased. */
    async releaseIdle(dropLease: (keyId: string) => Promise<void>): Promise<void> {
      for (const [name, { account, queue }] of [...queues]) {
        if (!queue.idle()) continue;
        queues.delete(name);
        await dropLease(account.keyId);
      }
    },
  };
}
