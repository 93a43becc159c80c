import type { Database } from "#drizzle/database.ts";
import { type Ageing, expire } from "#drizzle/expire.ts";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { Directory } from "../../directory.ts";
import { CLOSE_STALE } from "./tool-calls.ts";

const EVERY_MS = 15 * 60_000;
const DAY_MS = 24 * 3_600_000;

/** What is kept for as long as the records of calls are, and told of at a time of its own. */
const AGEING: readonly Ageing[] = [
  { table: "tool_calls", column: "started_at" },
  { table: "agent_points", column: "ended_at" },
  { table: "dropped_names", column: "first_at" },
];

export type KeepDeps = {
  database: Pick<Database, "sql">;
  directory: { current(): Pick<Directory, "settings"> };
  clock: Clock;
  log: Log;
};

/**
 * Gives up on calls of tools whose end nobody has told of for 24 hours, and deletes what is older than
 * `retention_days`. Any number of processes may do so.
 */
export async function expireToolCalls({ database, directory, clock, log }: KeepDeps): Promise<void> {
  const nowMs = clock.now().getTime();
  await database.sql.unsafe(CLOSE_STALE, [new Date(nowMs - DAY_MS).toISOString()]);
  const before = new Date(nowMs - directory.current().settings.retention_days * DAY_MS);
  for (const ageing of AGEING) {
    const rows = await expire(database.sql, ageing, before);
    if (rows > 0) log.info({ table: ageing.table, rows }, "deleted rows older than retention_days");
  }
}

/** Does so now and every 15 minutes, until told to stop. A failure is logged and tried again. */
export function startToolCallExpiry(deps: KeepDeps): { stop(): void } {
  const turn = () =>
    expireToolCalls(deps).catch((error) => deps.log.warn(errorFields(error), "old rows stay for now"));
  void turn();
  const timer = setInterval(() => void turn(), EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
