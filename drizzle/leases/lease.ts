import { and, eq, getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import {
  getTableConfig,
  type PgColumn,
  type PgInsertValue,
  type PgTable,
  type PgUpdateSetSource,
} from "drizzle-orm/pg-core";
import type { Clock } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Database, Transaction } from "../database.ts";
import type { leaseColumns } from "../schema/columns.ts";
import { failureClass } from "./failure-class.ts";

type WorkTable = PgTable & Record<keyof typeof leaseColumns, PgColumn>;

/** A row that this process alone works on until it expires. For work inside the database a row lock is enough. */
export type Lease<Row> = {
  row: Row;
  /** Extends the lease by its full time; false: it expired, and another process has taken the row. */
  renew(): Promise<boolean>;
  /**
   * Passes in the first two thirds of the lease. Call it right before an effect that must not happen twice: the rest
   * covers a request under way and clocks that differ between machines. @throws Error
   */
  assertHeld(): void;
  /**
   * Writes the result and gives the row back, in `tx` if given; false: the lease was lost, and nothing was written.
   */
  finish(result: Partial<Row>, tx?: Writer): Promise<boolean>;
  /** Gives the row back, not to be taken before a back-off of 1 minute that doubles up to 6 hours. */
  retry(error: unknown): Promise<void>;
};

const BACK_OFF = { fromMs: 60_000, maxMs: 6 * 3_600_000 };

/** Condition on the rows of `table` (or its alias) that are not leased and whose next attempt is due. */
export const isDue = (table: string, now: Date): SQL => {
  const at = sql`${now.toISOString()}::timestamptz`;
  const column = (name: string) =>
    sql`coalesce(${sql.identifier(table)}.${sql.identifier(name)}, '-infinity')`;
  return sql`${column("leased_until")} <= ${at} and ${column("next_attempt_at")} <= ${at}`;
};

type Writer = Pick<Transaction, "update">;

export type LeaseDeps = { database: Pick<Database, "db">; clock: Clock };

/** Takes one due row of those that `where` selects; null: none is due. A row that another process is taking is skipped. */
export async function takeLease<T extends WorkTable>(
  { database: { db }, clock }: LeaseDeps,
  table: T,
  { where, leaseMs }: { where: SQL | undefined; leaseMs: number },
): Promise<Lease<T["$inferSelect"]> | null> {
  type Row = T["$inferSelect"];
  // Every key is a column of `table`, or of the lease columns that each WorkTable has.
  const update = (set: object, on: Writer = db) => on.update(table).set(set as PgUpdateSetSource<T>);
  const expiry = () => new Date(clock.now().getTime() + leaseMs).toISOString();

  let takenMs = clock.monotonicMs();
  let until = expiry();
  const [row] = await update({ leasedUntil: until })
    .where(
      sql`ctid = (select ctid from ${table} where ${and(where, isDue(getTableName(table), clock.now()))}
        limit 1 for update skip locked)`,
    )
    .returning();
  if (!row) return null;
  // The expiry identifies this lease of the row: the next one can only begin after it.
  const key = keyOf(table, row);
  const isHeld = () => and(key, sql`${table.leasedUntil} = ${until}::timestamptz`);
  const giveBack = async (set: object, tx?: Writer) => {
    const given = await update({ ...set, leasedUntil: null }, tx).where(isHeld());
    return given.count === 1;
  };
  return {
    // `returning()` without a selection gives whole rows.
    row: row as Row,
    renew: async () => {
      const [renewedMs, next] = [clock.monotonicMs(), expiry()];
      const renewed = await update({ leasedUntil: next }).where(isHeld());
      if (renewed.count !== 1) return false;
      [takenMs, until] = [renewedMs, next];
      return true;
    },
    assertHeld: () => {
      if (clock.monotonicMs() - takenMs > (leaseMs * 2) / 3) throw new Error("the lease is about to expire");
    },
    finish: (result, tx) => giveBack({ attempts: 0, nextAttemptAt: null, failure: null, ...result }, tx),
    retry: async (error) => {
      // A row of a WorkTable has its columns.
      const { attempts } = row as { attempts: number };
      const nextAttemptAt = new Date(clock.now().getTime() + backOffMs(attempts, BACK_OFF)).toISOString();
      await giveBack({ attempts: attempts + 1, failure: failureClass(error), nextAttemptAt });
    },
  };
}

/** Like `takeLease`, for the row with the key of `row`, which is created if missing. */
export async function takeRowLease<T extends WorkTable>(
  deps: LeaseDeps,
  table: T,
  { row, where, leaseMs }: { row: PgInsertValue<T>; where?: SQL; leaseMs: number },
): Promise<Lease<T["$inferSelect"]> | null> {
  await deps.database.db.insert(table).values(row).onConflictDoNothing();
  const key = keyOf(table, { orgId: DEFAULT_ORG, ...row });
  return takeLease(deps, table, { where: and(key, where), leaseMs });
}

function keyOf(table: PgTable, row: Record<string, unknown>): SQL | undefined {
  // By name: drizzle keeps other objects for the columns of a key than for those of its table.
  const keyed = getTableConfig(table).primaryKeys.flatMap(({ columns }) => columns.map(({ name }) => name));
  const members = Object.entries(getTableColumns(table)).filter(([, { name }]) => keyed.includes(name));
  return and(...members.map(([name, column]) => eq(column, row[name])));
}

/**
 * Does work of unknown length on a short lease, which is renewed three times in its time: if the process dies, another
 * continues soon. `isHeld` is false once the lease is lost; while Postgres is away it counts as held.
 */
export async function whileHeld<Result>(
  { renew }: Pick<Lease<unknown>, "renew">,
  leaseMs: number,
  work: (isHeld: () => boolean) => Promise<Result>,
): Promise<Result> {
  let held = true;
  const beat = () =>
    renew().then(
      (renewed) => {
        held &&= renewed;
      },
      () => undefined,
    );
  const timer = setInterval(() => void beat(), leaseMs / 3);
  try {
    return await work(() => held);
  } finally {
    clearInterval(timer);
  }
}

/** Does leased work and writes its result; failed work is retried later. @returns the error, or null. */
export async function runLeased<Row>(
  lease: Lease<Row>,
  work: (lease: Lease<Row>) => Promise<Partial<Row>>,
): Promise<{ error: unknown } | null> {
  try {
    await lease.finish(await work(lease));
    return null;
  } catch (error) {
    await lease.retry(error);
    return { error };
  }
}

/** How long to wait after `attempts` failures before the one that just happened: `fromMs`, doubled by each, at most `maxMs`. */
export const backOffMs = (attempts: number, { fromMs, maxMs }: { fromMs: number; maxMs: number }): number =>
  Math.min(fromMs * 2 ** Math.min(attempts, 30), maxMs);
