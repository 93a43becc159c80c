import type { Database } from "#drizzle/database.ts";
import type { githubTurns } from "#drizzle/schema/github-app.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

export type TurnName = (typeof githubTurns.$inferSelect)["name"];

/** Work that this process has in hand. */
export type Turn = {
  /** When it was done before; null: never. */
  doneAt: Date | null;
  /** Keeps it in hand for `leaseMs` more; false when another process has taken it over. */
  keep(): Promise<boolean>;
  /** Gives it back. `done`: it is not to be done again before the next time; `waitMs`: GitHub asked to wait. */
  giveBack(end: { done: boolean; waitMs?: number }): Promise<void>;
};

export type TurnOptions = {
  /** A process that died loses its turn after this time. */
  leaseMs: number;
  /** Between the end of one turn and the next. */
  everyMs: number;
  /** Do not wait for `everyMs`. */
  atOnce?: boolean;
};

/**
 * A turn at `name`, when it is due, nobody has it and GitHub did not ask to wait; else null. The database's clock
 * decides, so that processes on several machines agree.
 */
export async function takeTurn(
  { sql }: Database,
  name: TurnName,
  { leaseMs, everyMs, atOnce = false }: TurnOptions,
): Promise<Turn | null> {
  const holder = crypto.randomUUID();
  const later = (ms: number) => sql`now() + make_interval(secs => ${ms / 1000}::double precision)`;
  await sql`insert into github_turns (org_id, name) values (${DEFAULT_ORG}, ${name}) on conflict do nothing`;
  const isIt = sql`org_id = ${DEFAULT_ORG} and name = ${name}`;
  const [taken] = await sql<{ done_at: Date | null }[]>`
    update github_turns set holder = ${holder}::uuid, busy_until = ${later(leaseMs)}
    where ${isIt} and coalesce(busy_until, '-infinity') < now() and coalesce(wait_until, '-infinity') < now()
      and (${atOnce} or coalesce(done_at, '-infinity') < ${later(-everyMs)})
    returning done_at`;
  if (!taken) return null;
  return {
    doneAt: taken.done_at,
    keep: async () => {
      const kept = await sql`
        update github_turns set busy_until = ${later(leaseMs)} where ${isIt} and holder = ${holder}::uuid`;
      return kept.count === 1;
    },
    giveBack: async ({ done, waitMs = 0 }) => {
      await sql`
        update github_turns set holder = null, busy_until = null, wait_until = ${later(waitMs)},
          done_at = case when ${done} then now() else done_at end
        where ${isIt} and holder = ${holder}::uuid`;
    },
  };
}
