import { expect, test } from "bun:test";
import { openDatabase } from "#drizzle/database.ts";
import { insertBatch, takeDueBatches } from "#gateway/stores/batches.ts";
import { newId } from "#shared/ids.ts";
import { atEnd } from "#test/support/at-end.ts";
import { testDatabase } from "#test/support/postgres.ts";

test("a round takes as many due batches as it asks for, and two rounds take different ones", async () => {
  const { url } = await testDatabase();
  const database = openDatabase(url, { name: "test", max: 2, statementTimeoutMs: 60_000 });
  atEnd(database.close);
  const past = new Date(Date.now() - 60_000).toISOString();
  for (let n = 0; n < 30; n++) {
    await insertBatch(database, {
      id: `batch_${n}`,
      kind: "lines",
      keyId: newId(),
      provider: n === 0 ? "hung" : "openai",
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
  }
  const take = (limit: number) => takeDueBatches(database, new Date(), { limit, without: ["hung"] });
  const rounds = await Promise.all([take(10), take(10)]);
  expect(rounds.map((rows) => rows.length)).toEqual([10, 10]);
  const taken = [...rounds.flat(), ...(await take(30))].map(({ id }) => id);
  expect(new Set(taken).size).toBe(29);
  expect(taken).not.toContain("batch_0");
});
