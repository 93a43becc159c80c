import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Database, openDatabase } from "#drizzle/database.ts";
import { trainInputOf, versionOf } from "#gateway/classifier/train-input.ts";
import { startTrainer, type Trainer } from "#gateway/classifier/trainer.ts";
import type { Directory } from "#gateway/directory.ts";
import { openClassifier, type RouteClassifier } from "#gateway/stores/classifier/classifier.ts";
import { systemClock } from "#shared/clock.ts";
import { recordedLog } from "#test/admin/world.ts";
import { directory, route } from "#test/routing/world.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";

let server: TestDatabase;
let database: Database;
const open: RouteClassifier[] = [];

beforeAll(async () => {
  server = await testDatabase();
  database = openDatabase(server.url, { name: "test", max: 2, statementTimeoutMs: 60_000 });
});
afterAll(async () => {
  for (const classifier of open) classifier.close();
  await database.close();
  await server.close();
});

const versionIn = (it: Directory): string => {
  const input = trainInputOf(it.routes.values());
  return input ? versionOf(input) : "";
};

const routesOf = (...names: string[]): Directory => directory({ routes: names.map((name) => route(name)) });

/** A directory that the test changes, and a classifier that follows it. */
async function holder(first: Directory, trainer?: () => Trainer) {
  let current = first;
  let tell: (directory: Directory) => void = () => undefined;
  const log = recordedLog();
  const follow = {
    current: () => current,
    subscribe: (listener: (directory: Directory) => void) => {
      tell = listener;
    },
  };
  const options = { directory: follow, database, clock: systemClock, log };
  const classifier = openClassifier(trainer ? { ...options, trainer } : options);
  open.push(classifier);
  const change = (next: Directory) => {
    current = next;
    tell(next);
  };
  return { classifier, change, log };
}

test("a thread that dies in the middle of training is followed by another, and the old model serves meanwhile", async () => {
  let started = 0;
  const { classifier, change, log } = await holder(routesOf("coding"), () => {
    started++;
    const trainer = startTrainer();
    // The second one dies as soon as it works.
    if (started === 2) setTimeout(() => trainer.close(), 20);
    return trainer;
  });
  await until(() => classifier.current() !== null);
  const before = classifier.current()?.version ?? "";
  // What was learnt is stored before the thread goes.
  await until(async () => (await database.sql`select 1 from route_models`).length === 1);
  // A damaged stored model ends the thread too, so the next training has one of its own.
  const next = versionIn(routesOf("coding", "math"));
  await database.sql`insert into route_models ${database.sql({ org_id: "default", version: next, model: Buffer.from("damaged"), report: "{}", created_at: new Date() })}`;
  change(routesOf("coding", "math"));
  expect(classifier.training()).toBe(true);
  expect(classifier.current()?.version).toBe(before);
  await until(() => !classifier.training());
  expect(classifier.current()?.version).toBe(next);
  expect(started).toBeGreaterThanOrEqual(3);
  expect(log.lines.filter((line) => line.includes("could not be trained")).length).toBe(1);
});

test("while the database is away, the classifier is trained and in force all the same", async () => {
  const away = openDatabase("postgres://nobody@127.0.0.1:9/none", {
    name: "away",
    max: 1,
    statementTimeoutMs: 1000,
  });
  const follow = { current: () => routesOf("translation"), subscribe: () => undefined };
  const classifier = openClassifier({
    directory: follow,
    database: away,
    clock: systemClock,
    log: recordedLog(),
  });
  await until(() => classifier.current() !== null);
  classifier.close();
  await away.close(0);
});
