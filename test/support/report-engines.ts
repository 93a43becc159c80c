import { expect } from "bun:test";
import { type ReportRunner, reportRunner } from "#gateway/reporting.ts";
import type { Result } from "#shared/report.ts";
import { atEnd } from "./at-end.ts";
import { HAS_CLICKHOUSE, startClickHouse } from "./clickhouse.ts";
import { copyTables } from "./copy-tables.ts";
import { testSql } from "./postgres.ts";
import { ALL } from "./tiers.ts";

export type Engines = {
  /** Called when rows of an organisation were written to Postgres: copies them to ClickHouse as they are now. */
  wrote(orgId: string): Promise<void>;
  /**
   * Makes reports by Postgres and by ClickHouse, and expects that both are the same: every figure, the order of the rows, and
   * the coverage. It ends with the test or the file.
   */
  runner(orgId?: string): ReportRunner;
  /**
   * Makes reports by Postgres alone; by both with `--all`. ClickHouse takes fifty times the processor time of Postgres for
   * a report on few records: it reads and plans the statement anew.
   */
  quickRunner(orgId?: string): ReportRunner;
};

/** All engines over the records of a database of Postgres; they end with the test or the file. */
export async function reportEngines(url: string): Promise<Engines> {
  const copies = HAS_CLICKHOUSE
    ? await copyTables(await (await startClickHouse()).database(), testSql(url))
    : null;
  const runnerOf = (clickhouse: (string | null)[], orgId?: string): ReportRunner => {
    const runners = clickhouse.map((clickhouseUrl) =>
      reportRunner({ url, clickhouseUrl, ...(orgId !== undefined && { orgId }) }),
    );
    const close = atEnd(async () => {
      await Promise.all(runners.map((runner) => runner.close()));
    });
    const asOne = async <T>(ask: (runner: ReportRunner) => Promise<T>): Promise<T> => {
      const [first, ...others] = await Promise.all(runners.map(ask));
      if (first === undefined) throw new Error("no engine");
      for (const other of others) expect(other).toEqual(first);
      return first;
    };
    return {
      run: (...asked) => asOne((runner) => runner.run(...asked)),
      runAll: (...asked) => asOne((runner) => runner.runAll(...asked)),
      async eachPage(spec, now, { take, ...how }) {
        const pages = async (runner: ReportRunner) => {
          const all: Result[] = [];
          await runner.eachPage(spec, now, { ...how, take: (page) => void all.push(page) });
          const [first] = all;
          return first && { ...first, rows: all.flatMap(({ rows }) => rows) };
        };
        const whole = await asOne(pages);
        if (whole) take(whole);
      },
      close,
    };
  };
  const both = [null, ...(copies ? [copies.clickhouseUrl] : [])];
  return {
    wrote: copies?.wrote ?? (async () => undefined),
    runner: (orgId) => runnerOf(both, orgId),
    quickRunner: (orgId) => runnerOf(process.env[ALL] ? both : [null], orgId),
  };
}
