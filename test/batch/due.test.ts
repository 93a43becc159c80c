import { expect, test } from "bun:test";
import { type Db, openDatabase } from "#drizzle/database.ts";
import type { BatchDeps } from "#gateway/batch/deps.ts";
import { recordLostBatch } from "#gateway/batch/reconcile.ts";
import { insertBatch, takeDueBatches } from "#gateway/stores/batches.ts";
import { systemClock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import { atEnd } from "#test/support/at-end.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { testRecorder } from "#test/support/recorder-kit.ts";

const past = new Date(Date.now() - 60_000).toISOString();
const batch = (id: string, provider: string): Parameters<typeof insertBatch>[1] => ({
  id,
  kind: "lines",
  keyId: newId(),
  provider,
  endpoint: "/v1/chat/completions",
  completionWindow: "24h",
  status: "in_progress",
  facts: {},
  createdAt: past,
  recordId: newId(),
  startedAt: past,
  routes: [],
  models: [],
  client: "c",
  tags: [],
  nextCheckAt: past,
});

async function opened(): Promise<{ url: string; database: Db }> {
  const { url } = await testDatabase();
  const database = openDatabase(url, { name: "test", max: 2, statementTimeoutMs: 60_000 });
  atEnd(database.close);
  return { url, database };
}

test("a round takes as many due batches as it asks for, and two rounds take different ones", async () => {
  const { database } = await opened();
  for (let n = 0; n < 30; n++) await insertBatch(database, batch(`batch_${n}`, n === 0 ? "hung" : "openai"));
  const take = (limit: number) => takeDueBatches(database, new Date(), { limit, without: ["hung"] });
  const rounds = await Promise.all([take(10), take(10)]);
  expect(rounds.map((rows) => rows.length)).toEqual([10, 10]);
  const taken = [...rounds.flat(), ...(await take(30))].map(({ id }) => id);
  expect(new Set(taken).size).toBe(29);
  expect(taken).not.toContain("batch_0");
});

test("a batch whose end is seen while the recorder closes is left to the next gateway", async () => {
  const { url, database } = await opened();
  await insertBatch(database, batch("batch_late", "openai"));
  const recorder = await testRecorder({ databaseUrl: url });
  await recorder.close(60_000);
  const directory = { current: () => ({ settings: DEFAULT_SETTINGS }) };
  // Of what batches need, recording uses no more.
  const deps = { database, recorder, directory, clock: systemClock } as unknown as BatchDeps;
  const [row] = await takeDueBatches(database, new Date(), { limit: 1, without: [] });
  if (!row) throw new Error("no batch is due");
  await expect(recordLostBatch(deps, row)).rejects.toMatchObject({ type: "cannot_record" });
  expect([...(await testSql(url)`select reconciled_at from batches`)]).toEqual([{ reconciled_at: null }]);
  expect(recorder.log.lines.filter(({ level }) => level === "error")).toEqual([]);
});
