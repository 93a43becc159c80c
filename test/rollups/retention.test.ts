import { expect, test } from "bun:test";
import { join } from "node:path";
import { ensurePartitions } from "#drizzle/partitions.ts";
import { monthsDue, retainDays } from "#drizzle/retention.ts";
import { PRICE_LIST } from "#gateway/pricing/price-list.ts";
import { openClockCheck } from "#gateway/stores/clock-check.ts";
import { NO_DIRECTORY } from "#gateway/stores/directory/load-directory.ts";
import { keepRollups } from "#gateway/stores/reports/keep-rollups.ts";
import { health } from "#gateway/surfaces/health.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import { atEnd } from "#test/support/at-end.ts";
import { keptLog } from "#test/support/embedded.ts";
import { openRow, settledRow } from "#test/support/recorder-kit.ts";
import { until } from "#test/support/until.ts";
import { movableClock } from "../stores/movable-clock.ts";
import { ledger } from "./ledger.ts";

const DAY_MS = 86_400_000;
/** In the middle of the month that is `months` before this one. */
const monthsAgo = (months: number): Date => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 15));
};
const named = (months: number) => monthsAgo(months).toISOString().slice(0, 7);

/** Records of this month and of the three before it, all summed. */
async function threeOldMonths() {
  const it = await ledger();
  atEnd(it.close);
  await ensurePartitions(it.database.url, monthsAgo(2));
  const calls = [3, 2, 1].map((months) =>
    settledRow(openRow({ startedAt: monthsAgo(months).toISOString() })),
  );
  await it.write([...calls, settledRow(openRow({ startedAt: new Date(Date.now() - 60_000).toISOString() }))]);
  await it.rollups.catchUp(new Date());
  const there = async () =>
    (await it.sql`select distinct to_char(started_at, 'YYYY-MM') as month from requests order by 1`).map(
      ({ month }) => month,
    );
  const audited = async () =>
    (
      await it.sql`select actor, subject from audit_entries where action = 'records.dropped' order by subject`
    ).map(({ actor, subject }) => `${actor} ${subject}`);
  return { ...it, there, audited };
}

test("the oldest month goes, and the next one a day later, unless it is confirmed", async () => {
  const it = await threeOldMonths();
  const retain = () => retainDays(it.database.url, { days: 1, actor: "daily", confirmed: false });
  const command = async (...words: string[]) => {
    const env = { ...process.env, DATABASE_URL: it.database.url };
    const program = join(import.meta.dir, "../../gateway/cli/tallygate.ts");
    return await new Response(
      Bun.spawn([process.execPath, program, "retention", ...words], { env, stdout: "pipe" }).stdout,
    ).text();
  };
  expect(await monthsDue(it.database.url, 1)).toHaveLength(3);
  const both = await Promise.all([retain(), retain()]);
  expect([...new Set(both.flat())]).toEqual([`requests_${named(3).replace("-", "_")}`]);
  expect(await retain()).toEqual([]);
  expect(await it.there()).toEqual([named(2), named(1), named(0)]);
  await it.sql`alter table audit_entries disable trigger user`;
  await it.sql`update audit_entries set at = now() - interval '25 hours' where action = 'records.dropped'`;
  expect(await retain()).toHaveLength(1);
  expect(await it.there()).toEqual([named(1), named(0)]);
  const setting = JSON.stringify({ retention_days: 1 });
  await it.sql`insert into settings (value, updated_at) values (${setting}::text::jsonb, now())`;
  expect(await command()).toBe(`Older than 1 day: ${named(1)}. The gateway drops one month a day.\n`);
  expect(await command("--confirm")).toBe(`Dropped: ${named(1)}.\n`);
  expect(await it.there()).toEqual([named(0)]);
  expect(await it.audited()).toEqual([
    `daily ${named(3)}`,
    `daily ${named(2)}`,
    `tallygate retention ${named(1)}`,
  ]);
});

test("the hours of a month that goes have as long as rollups have", async () => {
  const it = await threeOldMonths();
  await it.sql.unsafe(`
    create table limits_seen (it text);
    create function see_limit() returns trigger language plpgsql as $$ begin
      insert into limits_seen values (current_setting('statement_timeout'));
      return null;
    end $$;
    create trigger see_limit after insert on rollup_hours for each statement execute function see_limit()`);
  expect(await retainDays(it.database.url, { days: 1, actor: "daily", confirmed: true })).toHaveLength(3);
  expect([...(await it.sql`select distinct it from limits_seen`)]).toEqual([{ it: "10min" }]);
});

test("the oldest month goes also while records come faster than they are summed", async () => {
  const it = await threeOldMonths();
  const hour = `${named(0)}-01T00:00:00Z`;
  await it.sql.unsafe(`
    create function mark_again() returns trigger language plpgsql as $$ begin
      insert into rollup_marks (org_id, hour, id) select distinct org_id, hour, id from gone; return null; end $$;
    create trigger again after delete on rollup_marks referencing old table as gone
      for each statement execute function mark_again();
    insert into rollup_marks (org_id, hour, id) select org_id, '${hour}', '018f0000-0000-7000-8000-000000000000' from rollup_state`);
  const directory = { current: () => ({ settings: { ...DEFAULT_SETTINGS, retention_days: 1 } }) };
  const kept = keepRollups(it.database.url, { directory, clock: movableClock(), log: keptLog() }, false);
  atEnd(kept.stop);
  await until(async () => !(await it.there()).includes(named(3)));
});

test("a gateway whose clock is 520 days ahead drops nothing, and says that its clock differs", async () => {
  const it = await threeOldMonths();
  const clock = movableClock();
  const log = keptLog();
  const check = openClockCheck({ database: it, clock, log });
  await check.look();
  expect(check.minutesAhead()).toBeNull();
  clock.advance(520 * DAY_MS);
  await check.look();
  expect(check.minutesAhead()).toBe(520 * 24 * 60);
  const directory = { current: () => ({ settings: { ...DEFAULT_SETTINGS, retention_days: 400 } }) };
  const kept = keepRollups(it.database.url, { directory, clock, log }, false);
  await until(async () => (await it.sql`select 1 from rollup_state where rolled_to > now()`).length > 0);
  await kept.stop();
  expect(await it.there()).toEqual([named(3), named(2), named(1), named(0)]);
  const app = health({
    clocks: check,
    copies: null,
    recorder: {
      accepting: () => true,
      stats: () => ({
        ...{ backlog: 0, parked: 0, bytes: 0, oldestMs: null, cause: null, open: 0 },
        damage: { files: 0, recovered: 0, lost: 0 },
      }),
    },
    directory: {
      contact: async () => "writes",
      current: () => NO_DIRECTORY,
      state: () => ({ source: "database", ageSeconds: 0 }),
    },
    lifecycle: { stopping: false, replaced: false, warm: true, prepared: true },
    clock,
  });
  const answer = await app.handle(new Request("http://gateway/readyz"));
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    reasons: ["This host's clock is 748,800 minutes ahead of the database's."],
    // By this clock the list is old, too.
    price_list: { published: PRICE_LIST.published, warning: expect.stringContaining("days old") },
  });
  check.close();
});
