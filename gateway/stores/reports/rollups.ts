import { connect } from "#drizzle/database.ts";
import { BEFORE_SUMMING, FORGET_HOURS, ROLL_HOURS } from "#drizzle/hour-sums.ts";
import { KEEP_PLACES } from "#drizzle/session-places.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { DAY_MS, HOUR_MS, QUARTER_MS } from "../../reports/rollup/cover.ts";
import { ADD_LATE, FORGET_HOUR_SUMS, FORGET_LATE } from "../../reports/rollup/roll.ts";
import { asWriter, NEVER_ROLLED, type RollupState, type Sql, stateOf, type Turn } from "./rollup-writer.ts";
import { sumUpDay } from "./sum-up-day.ts";
import { endSums, forget, switchSums } from "./switch-sums.ts";

/** Calls that are still open when their quarter of an hour ends have this long to end before it is rolled up. */
const SETTLE_MS = 5 * 60_000;
/** A marked hour is rebuilt this long after its first mark, as more marks may follow; until then, raw records are read. */
const DEBOUNCE_MS = 60_000;
/** Cells and sums of hours are kept for the windows of built-in reports and the ones before these. */
const HOURS_DAYS = 62;
/** How far a catch-up is, and how many records it has summed up. */
export type Progress = { rolledTo: Date; records: number };

/** Keeps the rollups of an organisation. Any number of processes may run it: one at a time gets its turn. */
export type Rollups = {
  /**
   * Rolls up the next hours, at most to the end of their day, or rebuilds a day with marked hours; reads and
   * writes one snapshot. Then the explanations of sessions that changed are kept. `patient` skips recently marked hours.
   */
  turn(now: Date, patient?: boolean): Promise<Turn>;
  /** Takes turns until everything is rolled up. Waits while another process does so. */
  catchUp(now: Date, onProgress?: (progress: Progress) => void): Promise<Progress>;
  /** Rebuilds everything that has single records. Reports read single records in the meantime. */
  rebuild(now: Date, onProgress?: (progress: Progress) => void): Promise<Progress>;
  close(): Promise<void>;
};

/** An hour of 10,000 records takes 0.1 s; a day of a very large organisation takes minutes. */
const STATEMENT_TIMEOUT_MS = 10 * 60_000;
const BUSY_RETRY_MS = 1_000;

type Options = {
  url: string;
  orgId?: string;
  /** How many days of hours are kept beside those of dropped months. */
  hoursDays?: number;
  /** Whether reports read ClickHouse once it has every row; absent: it stays as it is. */
  clickhouse?: boolean;
};

export function openRollups({
  url,
  orgId = DEFAULT_ORG,
  hoursDays = HOURS_DAYS,
  clickhouse,
}: Options): Rollups {
  const client = connect(url, {
    name: "rollups",
    max: 1,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    lockTimeoutMs: 5_000,
    // A process that hangs must not keep the others from their turn.
    idleTransactionTimeoutMs: 60_000,
  });
  let records = 0;
  const run = (work: (sql: Sql, state: RollupState) => Promise<Turn>) => asWriter(client, orgId, work);

  const turn: Rollups["turn"] = (now, patient = true) =>
    run(async (sql, state) => {
      if (await switchSums(sql, { orgId, ...state }, clickhouse)) return "more";
      const settledMs = floorTo(QUARTER_MS, now.getTime() - SETTLE_MS);
      if (settledMs > state.rolledToMs) {
        records += await advance(sql, { orgId, ...state, settledMs, hoursDays });
        return "more";
      }
      const beforeMs = patient ? now.getTime() - DEBOUNCE_MS : null;
      const remade = await remakeMarkedDay(sql, { orgId, ...state, beforeMs });
      if (remade) return "more";
      const judged = await sql.unsafe(KEEP_PLACES, [orgId]);
      return judged.length > 0 ? "more" : "idle";
    });

  async function catchUp(now: Date, onProgress?: (progress: Progress) => void): Promise<Progress> {
    for (;;) {
      const outcome = await turn(now, false);
      const rolledTo = new Date((await stateOf(client, orgId))?.rolledToMs ?? 0);
      if (outcome === "idle") return { rolledTo, records };
      if (outcome === "busy") await Bun.sleep(BUSY_RETRY_MS);
      else onProgress?.({ rolledTo, records });
    }
  }

  return {
    turn,
    catchUp,
    rebuild: async (now, onProgress) => {
      const forgetAll = async (sql: Sql, { rawFromMs }: RollupState) => {
        await sql`update rollup_state set hours_from = null, hours_to = null where org_id = ${orgId}`;
        return await forget(sql, orgId, rawFromMs);
      };
      while ((await run(forgetAll)) === "busy") await Bun.sleep(BUSY_RETRY_MS);
      records = 0;
      return await catchUp(now, onProgress);
    },
    close: () => client.end({ timeout: 5 }),
  };
}

type OfOrganisation = RollupState & { orgId: string };

/** Rolls up records from `rolled_to` to the end of its day, at most to `settledMs`; returns how many. */
async function advance(
  sql: Sql,
  {
    orgId,
    rolledToMs,
    hoursToMs,
    sumsToMs,
    settledMs,
    hoursDays,
  }: OfOrganisation & { settledMs: number; hoursDays: number },
): Promise<number> {
  const dayMs = floorTo(DAY_MS, rolledToMs);
  const fromMs = floorTo(HOUR_MS, rolledToMs);
  const toMs = Math.min(settledMs, dayMs + DAY_MS);
  const span = [orgId, iso(fromMs), iso(toMs)];
  const known = rolledToMs > dayMs;
  await sql.unsafe(BEFORE_SUMMING);
  if (fromMs < rolledToMs) await sql.unsafe(FORGET_HOURS, span);
  const [made] = await sql.unsafe<{ records: number }[]>(ROLL_HOURS, span);
  const records = made?.records ?? 0;
  // Without records now and before, there is nothing to write.
  const isWhole = toMs === dayMs + DAY_MS;
  const hoursFromMs = floorTo(DAY_MS, settledMs) - hoursDays * DAY_MS;
  const firstMs = dayMs < hoursFromMs ? null : fromMs;
  if (records > 0 || known)
    await sumUpDay(sql, { orgId, dayMs, fromMs: firstMs, isWhole, isFew: sumsToMs !== null });
  if (isWhole && records > 0) await foldHours(sql, orgId, { dayMs, hoursToMs, hoursFromMs });
  const reached = records > 0 ? toMs : await nextRecord(sql, { orgId, fromMs: toMs, settledMs });
  await sql`
    update rollup_state set rolled_to = ${iso(reached)} where org_id = ${orgId}`;
  // What is later is read raw until its turn comes, which sees all that this one sees.
  await sql`delete from rollup_marks where org_id = ${orgId} and hour >= ${iso(fromMs)}`;
  return records;
}

/** Of hours before `hoursFromMs` days stay, and single records. All of the day `dayMs` are there, unless it is before. */
async function foldHours(
  sql: Sql,
  orgId: string,
  { dayMs, hoursToMs, hoursFromMs }: { dayMs: number; hoursToMs: number; hoursFromMs: number },
): Promise<void> {
  const from = iso(hoursFromMs);
  await sql.unsafe(FORGET_HOUR_SUMS, [orgId, NEVER_ROLLED, from]);
  if (hoursToMs < hoursFromMs) {
    await sql.unsafe(FORGET_HOURS, [orgId, Number.isFinite(hoursToMs) ? iso(hoursToMs) : NEVER_ROLLED, from]);
  }
  await sql`
    update rollup_state set hours_from = least(greatest(hours_from, ${from}), ${iso(Math.max(dayMs, hoursFromMs))})
    where org_id = ${orgId}`;
}

/** The day of the first record after a day without any, or `settledMs`. Whole days without records need no rollups. */
async function nextRecord(
  sql: Sql,
  { orgId, fromMs, settledMs }: { orgId: string; fromMs: number; settledMs: number },
): Promise<number> {
  if (fromMs >= settledMs) return fromMs;
  const [row] = await sql.unsafe<{ at: string | null }[]>(
    `select (extract(epoch from min(started_at)) * 1000)::bigint::text as at from requests
    where org_id = $1::text and started_at >= $2::timestamptz and started_at < $3::timestamptz`,
    [orgId, iso(fromMs), iso(settledMs)],
  );
  return row?.at ? Math.max(fromMs, floorTo(DAY_MS, Number(row.at))) : settledMs;
}

/** Rebuilds the marked hours of the day that was marked first; returns whether there was one. */
async function remakeMarkedDay(
  sql: Sql,
  { orgId, beforeMs, ...state }: OfOrganisation & { beforeMs: number | null },
): Promise<boolean> {
  const ripe = beforeMs === null ? "true" : "bool_or(id < $3::uuid)";
  const marked = await sql.unsafe<{ at: string }[]>(
    `select (extract(epoch from date_trunc('hour', hour, 'UTC')) * 1000)::bigint::text as at from rollup_marks
    where org_id = $1::text and hour < $2::timestamptz
      and date_trunc('day', hour, 'UTC') = (
        select date_trunc('day', hour, 'UTC') from rollup_marks
        where org_id = $1::text and hour < $2::timestamptz
        group by 1 having ${ripe} order by min(id::text) limit 1)
    group by date_trunc('hour', hour, 'UTC') order by 1`,
    [orgId, iso(state.rolledToMs), ...(beforeMs === null ? [] : [idsFrom(beforeMs)])],
  );
  const hours = marked.map(({ at }) => Number(at));
  const [first] = hours;
  if (first === undefined) return false;
  const dayMs = floorTo(DAY_MS, first);
  const isWhole = dayMs + DAY_MS <= state.rolledToMs;
  await sql.unsafe(BEFORE_SUMMING);
  const isFew = state.sumsToMs !== null;
  const isKept = dayMs < state.hoursToMs || dayMs >= state.hoursFromMs;
  const day = [orgId, iso(dayMs), iso(dayMs + DAY_MS)];
  if (isKept) for (const hourMs of hours) await remakeHour(sql, orgId, { hourMs, ...state });
  else for (const statement of [FORGET_HOURS, ROLL_HOURS]) await sql.unsafe(statement, day);
  await sumUpDay(sql, { orgId, dayMs, fromMs: dayMs >= state.hoursFromMs ? first : null, isWhole, isFew });
  if (isFew) await endSums(sql, orgId, dayMs);
  if (!isKept) await sql.unsafe(FORGET_HOURS, day);
  await sql`
    delete from rollup_marks where org_id = ${orgId} and date_trunc('hour', hour, 'UTC') = any(${hours.map(iso)})`;
  return true;
}

/** If the hour's single records were dropped, adds late records; else sums up all records again. */
async function remakeHour(
  sql: Sql,
  orgId: string,
  { hourMs, rawFromMs, rolledToMs }: RollupState & { hourMs: number },
): Promise<void> {
  const toMs = Math.min(hourMs + HOUR_MS, rolledToMs);
  const span = [orgId, iso(hourMs), iso(toMs)];
  const isThere = rawFromMs === null || hourMs >= rawFromMs;
  for (const statement of isThere ? [FORGET_HOURS, ROLL_HOURS] : [ADD_LATE, FORGET_LATE]) {
    await sql.unsafe(statement, span);
  }
}

const floorTo = (stepMs: number, ms: number): number => Math.floor(ms / stepMs) * stepMs;
const iso = (ms: number): string => new Date(ms).toISOString();

/** The least id that is minted at `ms` or later. */
const idsFrom = (ms: number): string => {
  const hex = Math.max(0, ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};
