import type { Static, TSchema } from "@sinclair/typebox";
import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { fits } from "#shared/schema.ts";
import { type CoverageChange, type EventName, FACTS, isEventName, type Sighting } from "../facts/facts.ts";
import { emptyBatch, type FactBatch, writeFacts } from "../stores/fact-batch.ts";
import { inBatches } from "../stores/in-batches.ts";
import { claimDeliveries } from "../stores/inbox-store.ts";

export type ApplyDeps = { database: Database; clock: Clock };

/** The inbox contains something that this version of `reduce` would not write. */
export class UnreadableFacts extends Error {
  override readonly name = "UnreadableFacts";
}

export type InboxEvent = { id: string; name: string; facts: unknown };

const BATCH_MAX = 200;

/**
 * Applies deliveries of the inbox to the tables and marks them applied, both or neither. One that was applied already,
 * or that another process is applying, changes nothing. Deliveries that arrive together share a transaction.
 */
export function createApplier({ database, clock }: ApplyDeps): (event: InboxEvent) => Promise<void> {
  const apply = inBatches(async (events: readonly ReadEvent[]) => {
    await database.db.transaction(async (tx) => {
      const ids = events.map(({ id }) => id);
      const claimed = await claimDeliveries(tx, ids, clock.now());
      const batch = emptyBatch();
      for (const { id, addTo } of events) if (claimed.has(id)) addTo(batch);
      await writeFacts(tx, batch);
    });
    return events.map(() => undefined);
  }, BATCH_MAX);
  return async (event) => {
    await apply(read(event));
  };
}

type ReadEvent = { id: string; addTo: (batch: FactBatch) => void };

/** @throws UnreadableFacts */
function read({ id, name, facts }: InboxEvent): ReadEvent {
  const addTo = isEventName(name) ? READERS[name](facts, id) : null;
  if (addTo === null) throw new UnreadableFacts();
  return { id, addTo };
}

type Reader = (facts: unknown, deliveryId: string) => ReadEvent["addTo"] | null;

const reader =
  <T extends TSchema>(schema: T, add: (batch: FactBatch, facts: Static<T>, deliveryId: string) => void) =>
  (facts: unknown, deliveryId: string): ReturnType<Reader> =>
    fits(schema, facts) ? (batch) => add(batch, facts, deliveryId) : null;

const addRepositories = (
  batch: FactBatch,
  facts: { sightings: readonly Sighting[]; coverage?: readonly CoverageChange[] },
) => {
  batch.sightings.push(...facts.sightings);
  batch.coverage.push(...(facts.coverage ?? []));
};

const READERS: Record<EventName, Reader> = {
  pull_request: reader(FACTS.pull_request, (batch, facts, deliveryId) => {
    addRepositories(batch, facts);
    batch.pullRequests.push({ deliveryId, facts });
  }),
  pull_request_review: reader(FACTS.pull_request_review, (batch, facts) => {
    addRepositories(batch, facts);
    batch.reviews.push(facts);
  }),
  installation: reader(FACTS.installation, (batch, facts) => {
    batch.installations.push(facts);
    addRepositories(batch, facts);
  }),
  installation_repositories: reader(FACTS.installation_repositories, addRepositories),
  repository: reader(FACTS.repository, addRepositories),
};
