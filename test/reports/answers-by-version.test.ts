import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type postgres from "postgres";
import { notOfMerges, overviewSpecs } from "#gateway/reports/overview.ts";
import { answersByVersion } from "#gateway/stores/reports/answers-by-version.ts";
import { recordVersion } from "#gateway/stores/reports/record-version.ts";
import { type ReportWriter, reportWriter } from "#gateway/stores/reports/report-writer.ts";
import { OverviewAnswer } from "#shared/overview.ts";
import type { Filters } from "#shared/report.ts";
import { faultsOf } from "#shared/schema.ts";
import { keptLog } from "#test/support/embedded.ts";
import { type TestDatabase, testDatabase, testSql } from "#test/support/postgres.ts";
import { seed, type World } from "./world.ts";

type Answer = { made: string; complete: boolean };

/** Questions whose answers are made when the test says so, and what was made of them. */
function questions(bytesMax?: number) {
  let [nowMs, version] = [0, 1];
  const made: { text: string; signal: AbortSignal; done(): void }[] = [];
  const kept = answersByVersion<Answer>({ now: () => new Date(nowMs), monotonicMs: () => nowMs }, bytesMax);
  const ask = (key: string, signal?: AbortSignal, complete = true) =>
    kept
      .ask(
        {
          key,
          version: async () => version,
          make: async (stop) => {
            const text = `${key}${version}.${made.length}`;
            const { promise, resolve } = Promise.withResolvers<void>();
            made.push({ text, signal: stop, done: resolve });
            await promise;
            return { made: text, complete };
          },
        },
        signal,
      )
      .then((answer) => answer.made);
  const finish = async (count = 1) => {
    while (made.length < count) await Bun.sleep(1);
    for (const one of made) one.done();
  };
  return { ask, finish, made, later: (ms: number) => (nowMs += ms), move: () => version++ };
}

describe("answers are kept", () => {
  test("while the version of the records stays, at most a minute, and only complete ones", async () => {
    const it = questions();
    const answered = async (count: number, complete = true) => {
      const answer = it.ask("a", undefined, complete);
      await it.finish(count);
      return await answer;
    };
    expect(await answered(1)).toBe("a1.0");
    it.later(59_999);
    expect(await answered(1)).toBe("a1.0");
    it.later(1);
    expect(await answered(2)).toBe("a1.1");
    it.move();
    expect(await answered(3, false)).toBe("a2.2");
    expect(await answered(4)).toBe("a2.3");
  });

  test("equal questions are one, and those of newer records share the next answer", async () => {
    const it = questions();
    const first = [it.ask("a"), it.ask("a"), it.ask("b")];
    while (it.made.length < 2) await Bun.sleep(1);
    it.move();
    const next = [it.ask("a"), it.ask("a")];
    await Bun.sleep(5);
    expect(it.made).toHaveLength(2);
    await it.finish(2);
    await it.finish(3);
    expect(await Promise.all([...first, ...next])).toEqual(["a1.0", "a1.0", "b1.1", "a2.2", "a2.2"]);
  });

  test("readers who were answered together share the next answer, however fast records arrive, and so do those who waited", async () => {
    const it = questions();
    const together = [it.ask("a"), it.ask("a")];
    while (it.made.length < 1) await Bun.sleep(1);
    it.move();
    const waiting = it.ask("a");
    await Bun.sleep(1);
    it.later(60_000);
    await it.finish();
    await Promise.all(together);
    const again = ["first", "second"].map(() => {
      it.move();
      return it.ask("a");
    });
    await it.finish(2);
    expect(await waiting).toBe("a4.1");
    expect(await Promise.all(again)).toEqual(["a4.1", "a4.1"]);
    expect(it.made).toHaveLength(2);
  });

  test("an answer is stopped once no one waits for it, and the next who asks gets another", async () => {
    const it = questions();
    const [one, other] = [new AbortController(), new AbortController()];
    const waiting = [it.ask("a", one.signal), it.ask("a", other.signal)];
    while (it.made.length < 1) await Bun.sleep(1);
    one.abort();
    expect(it.made[0]?.signal.aborted).toBe(false);
    other.abort();
    expect(it.made[0]?.signal.aborted).toBe(true);
    const next = it.ask("a");
    await it.finish(2);
    expect(await next).toBe("a1.1");
    await Promise.all(waiting);
  });

  test("those that were used last, as far as their bytes fit", async () => {
    const it = questions(14);
    for (const [place, key] of ["a", "b", "a", "c", "a", "b"].entries()) {
      const answer = it.ask(key);
      await it.finish(Math.min(place + 1, 2));
      if (place === 3) await it.finish(3);
      if (place === 5) await it.finish(4);
      await answer;
    }
    // Each takes five bytes with its key; `b` gave way to `c`.
    expect(it.made.map(({ text }) => text)).toEqual(["a1.0", "b1.1", "c1.2", "b1.3"]);
  });
});

const NOW = new Date("2026-11-21T12:00:00Z");
const TEAMS = ["web", "api", "ops"] as const;
const WORLD: World = {
  keys: { a: "laptop" },
  repositories: [{ id: 1, fullName: "acme/app" }],
  requests: TEAMS.map((team, i) => ({
    at: `2026-11-${10 + i}T10:00:00Z`,
    teams: [team, "all"],
    owner: `of-${team}`,
    model: `m-${team}`,
    session: `s-${team}`,
    cost: `${i + 1}.5`,
  })),
  pullRequests: TEAMS.map((team, i) => ({
    repository: 1,
    number: i + 1,
    mergedAt: "2026-11-15T10:00:00Z",
    link: "joined",
    session: `s-${team}`,
  })),
};

describe("an answer that is kept", () => {
  let database: TestDatabase;
  let sql: postgres.Sql;
  let writers: ReportWriter[];
  beforeAll(async () => {
    database = await testDatabase();
    sql = testSql(database.url);
    await seed(sql, "default", WORLD);
    const places = { url: database.url, mainUrl: database.url };
    const options = { log: keptLog(), clock: { now: () => NOW, monotonicMs: () => 0 } };
    const keeping = () => reportWriter(places, { ...options, version: recordVersion(sql) });
    // Two gateways that keep answers, and one that keeps none.
    writers = [keeping(), keeping(), reportWriter(places, options)];
  });
  afterAll(async () => {
    await Promise.all(writers.map((writer) => writer.close()));
  });

  /** Whoever reads: an administrator, or the manager of some team. */
  const reader = fc.constantFrom(null, ...TEAMS, "all");
  const asked = fc.record({
    reader,
    gateway: fc.constantFrom(0, 1),
    model: fc.constantFrom([], ["m-web"], ["m-api"]),
    compare: fc.constantFrom("none", "previous_period"),
    gzip: fc.boolean(),
    /** A call that arrives before the question. */
    arrives: fc.option(fc.constantFrom(...TEAMS), { nil: null, freq: 4 }),
  });
  type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never;

  async function answerOf(
    writer: ReportWriter | undefined,
    { reader, model, compare, gzip }: Asked,
  ): Promise<unknown> {
    const filters: Filters = model.length > 0 ? { model: [...model] } : {};
    const scope =
      reader === null ? null : { team: reader, teams: reader === "all" ? [...TEAMS, "all"] : [reader] };
    const query = {
      reports: overviewSpecs({ range: "mtd", compare, filters }, scope),
      form: { not_of_merges: notOfMerges(filters) },
      scope: reader,
      timeZone: "UTC",
      complete: true,
    };
    const made = await writer?.answer(query, NOW, { gzip });
    return JSON.parse(typeof made === "string" ? made : new TextDecoder().decode(Bun.gunzipSync(made ?? "")));
  }

  test("is never another reader's, nor older than the records, with two gateways on one database", async () => {
    const holds = async (questions: readonly Asked[]) => {
      for (const question of questions) {
        if (question.arrives)
          await seed(sql, "default", {
            requests: [{ at: "2026-11-20T10:00:00Z", teams: [question.arrives, "all"] }],
          });
        const answer = await answerOf(writers[question.gateway], question);
        expect(faultsOf(OverviewAnswer, answer)).toEqual([]);
        expect(answer).toEqual(await answerOf(writers[2], question));
        const others = TEAMS.filter(
          (team) => question.reader !== null && question.reader !== "all" && team !== question.reader,
        );
        for (const team of others) expect(JSON.stringify(answer)).not.toContain(`of-${team}`);
      }
    };
    const stories = fc.asyncProperty(fc.array(asked, { minLength: 12, maxLength: 12 }), holds);
    await fc.assert(stories, { numRuns: 3, endOnFailure: true });
  });
});
