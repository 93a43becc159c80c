import { within } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import type { ClientKey } from "../../directory.ts";
import { GatewayError } from "../../errors.ts";

/** For this long an unknown secret is refused without asking again. */
const ABSENT_MS = 3000;
const ABSENT_MAX = 10_000;
/** Secrets that may wait for an answer at once; a flood of guesses must not become a flood of queries. */
const WAITING_MAX = 2000;
const DEADLINE_MS = 2000;

export type SecretLookup = {
  /** @throws GatewayError key_unverifiable if the database does not answer in time. */
  find(sha256Hex: string): ClientKey | null | Promise<ClientKey | null>;
  /** Clears cached lookups, because the whole directory has been read. */
  forget(): void;
};

/**
 * Looks secrets up that are not in memory: many at a time, one query in flight, and none for a secret just answered. A
 * key that was found is known until the directory is read, also if the database goes away before that.
 */
export function secretLookup(
  clock: Clock,
  query: (sha256Hex: string[]) => Promise<ReadonlyMap<string, ClientKey>>,
): SecretLookup {
  const absentUntilMs = new Map<string, number>();
  const present = new Map<string, ClientKey>();
  /** How often the directory was read: a look-up that began before may have missed a revocation. */
  let reads = 0;
  const waiting = new Map<string, PromiseWithResolvers<ClientKey | null>>();
  let asked = new Map<string, PromiseWithResolvers<ClientKey | null>>();
  let running = false;

  async function answerAll(): Promise<void> {
    running = true;
    while (waiting.size > 0) {
      asked = new Map(waiting);
      waiting.clear();
      await answer(asked);
    }
    asked = new Map();
    running = false;
  }

  async function answer(batch: typeof asked): Promise<void> {
    const readsBefore = reads;
    try {
      const found = await within(DEADLINE_MS, query([...batch.keys()]));
      for (const [hash, { resolve }] of batch) {
        const key = found.get(hash) ?? null;
        if (!key) rememberAbsent(hash);
        else if (reads === readsBefore) present.set(hash, key);
        resolve(key);
      }
    } catch (cause) {
      for (const { reject } of batch.values()) {
        reject(new GatewayError("key_unverifiable", undefined, cause));
      }
    }
  }

  function rememberAbsent(hash: string): void {
    const [oldest] = absentUntilMs.keys();
    if (absentUntilMs.size >= ABSENT_MAX && oldest !== undefined) absentUntilMs.delete(oldest);
    absentUntilMs.delete(hash);
    absentUntilMs.set(hash, clock.monotonicMs() + ABSENT_MS);
  }

  return {
    find(hash) {
      const known = present.get(hash);
      if (known) return known;
      if ((absentUntilMs.get(hash) ?? 0) > clock.monotonicMs()) return null;
      const shared = waiting.get(hash) ?? asked.get(hash);
      if (shared) return shared.promise;
      if (waiting.size >= WAITING_MAX) throw new GatewayError("key_unverifiable");
      const own = Promise.withResolvers<ClientKey | null>();
      waiting.set(hash, own);
      // A caller that does not wait for the answer must not make its failure an unhandled one.
      own.promise.catch(() => undefined);
      if (!running) void answerAll();
      return own.promise;
    },
    forget() {
      reads += 1;
      absentUntilMs.clear();
      present.clear();
    },
  };
}
