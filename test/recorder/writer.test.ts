import { expect, test } from "bun:test";
import type { Source } from "#gateway/recorder/source.ts";
import { startWriter } from "#gateway/recorder/writer.ts";
import type { RecordStore } from "#gateway/stores/records.ts";
import { systemClock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { keptLog } from "#test/support/embedded.ts";

/** A source in which so many rows wait. */
function rowsWaiting(count: number): Source {
  let left = count;
  return {
    take: (rowsMax) =>
      Array.from({ length: Math.min(left, rowsMax) }, (_, seq) => ({ seq, id: newId(), text: "{}" })),
    drop: (rows) => {
      left -= rows.length;
    },
    park: () => undefined,
    mark: () => () => left === 0,
    oldestAt: () => null,
    backlog: () => left,
  };
}

/** How the store was told to write, a word per change, while so many rows were moved. */
async function priorities(rows: number): Promise<boolean[]> {
  const told: boolean[] = [];
  const source = rowsWaiting(rows);
  const store: RecordStore = {
    insert: async () => undefined,
    hasten: (behind) => {
      if (told.at(-1) !== behind) told.push(behind);
    },
    park: async () => null,
    close: async () => undefined,
  };
  const writer = startWriter({ store, sources: () => [source], log: keptLog(), clock: systemClock });
  writer.wake(rows);
  while (source.backlog() > 0) await Bun.sleep(1);
  await writer.stop(1000);
  return told;
}

test("records are written at full priority only after 20,000 rows in full batches, until all are written", async () => {
  expect(await priorities(499)).toEqual([false]);
  expect(await priorities(19_000)).toEqual([false]);
  expect(await priorities(21_000)).toEqual([false, true, false]);
});
