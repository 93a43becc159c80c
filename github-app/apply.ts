import type { Static, TSchema } from "@sinclair/typebox";
import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { fits } from "#shared/schema.ts";
import { type EventName, FACTS, isEventName } from "./facts.ts";
import { claimDelivery, type Transaction } from "./inbox-store.ts";
import { writeInstallation, writePullRequest, writeReview, writeSightings } from "./outcome-store.ts";

export type ApplyDeps = { database: Database; clock: Clock };

/** The inbox holds something that this version of `reduce` would not write. */
export class UnreadableFacts extends Error {
  override readonly name = "UnreadableFacts";
}

/**
 * Applies one delivery of the inbox to the tables and marks it applied, both or neither. One that was applied already,
 * or that another process has in hand, changes nothing.
 */
export async function applyDelivery(
  { database, clock }: ApplyDeps,
  { id, name, facts }: { id: string; name: string; facts: unknown },
): Promise<void> {
  if (!isEventName(name)) throw new UnreadableFacts();
  await database.db.transaction(async (tx) => {
    if (await claimDelivery(tx, id, clock.now())) await WRITERS[name](tx, facts, id);
  });
}

type Writer = (tx: Transaction, facts: unknown, deliveryId: string) => Promise<void>;

function writer<T extends TSchema>(
  schema: T,
  write: (tx: Transaction, facts: Static<T>, deliveryId: string) => Promise<void>,
): Writer {
  return async (tx, facts, deliveryId) => {
    if (!fits(schema, facts)) throw new UnreadableFacts();
    await write(tx, facts, deliveryId);
  };
}

const WRITERS: Record<EventName, Writer> = {
  pull_request: writer(FACTS.pull_request, async (tx, facts, deliveryId) => {
    await writeSightings(tx, facts.sightings);
    await writePullRequest(tx, { deliveryId, facts });
  }),
  pull_request_review: writer(FACTS.pull_request_review, async (tx, facts) => {
    await writeSightings(tx, facts.sightings);
    await writeReview(tx, facts);
  }),
  installation: writer(FACTS.installation, async (tx, facts) => {
    await writeInstallation(tx, facts);
    await writeSightings(tx, facts.sightings);
  }),
  installation_repositories: writer(FACTS.installation_repositories, (tx, facts) =>
    writeSightings(tx, facts.sightings),
  ),
  repository: writer(FACTS.repository, (tx, facts) => writeSightings(tx, facts.sightings)),
};
