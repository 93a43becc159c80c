import type { Database } from "#drizzle/database.ts";
import { expireAll } from "#drizzle/expire.ts";
import type { Ambient } from "#shared/clock.ts";
import { errorFields } from "#shared/log.ts";
import { CLOSE_STALE } from "./tool-calls.ts";

const EVERY_MS = 15 * 60_000;
const DAY_MS = 24 * 3_600_000;

export type KeepDeps = Ambient & {
  database: Pick<Database, "sql">;
};

/** Closes tool calls that have been pending for 24 hours, and deletes old rows of all tables. Any number of processes may do so. */
export async function expireToolCalls({ database, clock, log }: KeepDeps): Promise<void> {
  await database.sql.unsafe(CLOSE_STALE, [new Date(clock.now().getTime() - DAY_MS).toISOString()]);
  await expireAll(database.sql, (table, rows) => log.info({ table, rows }, "deleted old rows"));
}

/** Does so now and every 15 minutes, until `stop`. Failures are logged and retried. */
export function startToolCallExpiry(deps: KeepDeps): { stop(): void } {
  const turn = () =>
    expireToolCalls(deps).catch((error) => deps.log.warn(errorFields(error), "old rows stay for now"));
  void turn();
  const timer = setInterval(() => void turn(), EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
