import type { Database } from "bun:sqlite";
import type { Keep } from "./statement-keeper.ts";

/**
 * A Map that lives long keeps what passed through it until a full garbage collection (upstream/watchdog.ts): it is made
 * anew after so many calls.
 */
const RENEWED_EVERY = 512;

/**
 * Writes and ends intents. They lie in the file in the order of their arrival and are found by number, so that those of
 * a moment share a page; which call has which number is known in memory.
 */
export function intentWriter(db: Database, keep: Keep) {
  const insert = keep(db.prepare("INSERT INTO intents (n, id, body) VALUES (?, ?, ?)"));
  const remove = keep(db.prepare("DELETE FROM intents WHERE n = ?"));
  const stored = keep(db.prepare<{ n: number; id: string }, []>("SELECT n, id FROM intents ORDER BY n"));
  let numbers = new Map(stored.all().map(({ n, id }) => [id, n]));
  let forgotten = 0;
  let last = Math.max(0, ...numbers.values());
  let begun: string[] = [];
  let ended: [id: string, n: number][] = [];

  function end(id: string): void {
    const n = numbers.get(id);
    if (n === undefined) return;
    remove.run(n);
    numbers.delete(id);
    forgotten += 1;
    if (forgotten % RENEWED_EVERY === 0) numbers = new Map(numbers);
    ended.push([id, n]);
  }
  return {
    end,
    begin(id: string, text: string): void {
      end(id);
      last += 1;
      insert.run(last, id, text);
      numbers.set(id, last);
      begun.push(id);
    },
    /** What the file undoes with its transaction must be undone here too. */
    mark: () => {
      begun = [];
      ended = [];
      return () => {
        for (const id of begun) numbers.delete(id);
        for (const [id, n] of ended) numbers.set(id, n);
      };
    },
  };
}
