import type { Database } from "#drizzle/database.ts";
import { type Ageing, expire } from "#drizzle/expire.ts";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { Directory } from "../../directory.ts";
import { CLOSE_STALE } from "./tool-calls.ts";

const EVERY_MS = 15 * 60_000;
const DAY_MS = 24 * 3_600_000;

/** Tables whose rows are deleted by age: after `days`, or, like records of calls, after `retention_days`. */
const AGEING: readonly (Ageing & { days?: number })[] = [
  { table: "tool_calls", column: "started_at" },
  { table: "agent_points", column: "ended_at" },
  { table: "dropped_names", column: "first_at" },
  { table: "audit_entries", column: "at", days: 400 },
];

export type KeepDeps = {
  database: Pick<Database, "sql">;
  directory: { current(): Pick<Directory, "settings"> };
  clock: Clock;
  log: Log;
};

/**
 * Closes tool calls that have been pending for 24 hours, and deletes rows older than `retention_days`. Any number of
 * processes may do so.
 */
export async function expireToolCalls({ database, directory, clock, log }: KeepDeps): Promise<void> {
  await database.sql.unsafe(CLOSE_STALE, [new Date(clock.now().getTime() - DAY_MS).toISOString()]);
  const { retention_days: retentionDays } = directory.current().settings;
  for (const { days = retentionDays, ...ageing } of AGEING) {
    const rows = await expire(database.sql, ageing, days);
    if (rows > 0) log.info({ table: ageing.table, rows, days }, "deleted old rows");
  }
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
