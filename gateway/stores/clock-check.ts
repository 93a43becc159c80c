import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";

/** A larger difference makes times of records, budgets and expiry wrong enough to be a fault. */
const DIFFER_MS = 5 * 60_000;
const EVERY_MS = 60_000;

export type ClockCheck = {
  /** Minutes that this host's clock is ahead of the database's (negative: behind); null if they agree to five minutes. */
  minutesAhead(): number | null;
  /** Compares the two clocks. Rejects while the database is away. */
  look(): Promise<void>;
  close(): void;
};

export type ClockCheckOptions = { database: Pick<Database, "sql">; clock: Clock; log: Log };

/** Compares this host's clock with the database's, which all gateways share, once a minute; logs when that changes. */
export function openClockCheck({ database: { sql }, clock, log }: ClockCheckOptions): ClockCheck {
  let minutes: number | null = null;
  async function look(): Promise<void> {
    const sentMs = clock.now().getTime();
    const [row] = await sql<{ ms: number }[]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
    if (row === undefined) return;
    const aheadMs = (sentMs + clock.now().getTime()) / 2 - row.ms;
    const found = Math.abs(aheadMs) > DIFFER_MS ? Math.round(aheadMs / 60_000) : null;
    if (found !== null && minutes === null) {
      log.error({ minutesAhead: found }, "this host's clock differs from the database's");
    } else if (found === null && minutes !== null) {
      log.info({}, "this host's clock agrees with the database's again");
    }
    minutes = found;
  }
  const timer = setInterval(() => void look().catch(() => undefined), EVERY_MS);
  timer.unref();
  return { minutesAhead: () => minutes, look, close: () => clearInterval(timer) };
}
