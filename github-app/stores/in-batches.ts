import { failureClass } from "#drizzle/leases/failure-class.ts";

/**
 * `run` for one item at a time, done for many at once: items that arrive while a run is under way wait for the next one,
 * at most `max` together. `run` returns one result per item, in order. When it fails because of an item (not of the
 * database as a whole), each item is run alone, so that no item fails because of another.
 */
export function inBatches<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  max: number,
): (item: T) => Promise<R> {
  let waiting: Waiting<T, R>[] = [];
  let running = false;

  const work = async () => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, max);
      waiting = waiting.slice(max);
      await settle(run, batch);
    }
    running = false;
  };
  return (item) =>
    new Promise<R>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (running) return;
      running = true;
      // Everything that arrives in this turn of the event loop goes together.
      setImmediate(() => void work());
    });
}

type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void };

async function settle<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  batch: readonly Waiting<T, R>[],
): Promise<void> {
  try {
    const results = await run(batch.map(({ item }) => item));
    // `run` returns one result per item.
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as R);
  } catch (error) {
    if (batch.length > 1 && concernsAnItem(error)) {
      for (const one of batch) await settle(run, [one]);
    } else for (const { reject } of batch) reject(error);
  }
}

/** SQL states of connections (08), resources (53) and operators (57) concern all items; so does an error without a state. */
const concernsAnItem = (error: unknown): boolean => / (?!08|53|57)[0-9A-Z]{5}$/.test(failureClass(error));
