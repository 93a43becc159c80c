import type { Static, TSchema } from "@sinclair/typebox";
import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { fits } from "#shared/schema.ts";
import {
  type CoverageChange,
  FACTS,
  type InstallationFacts,
  isEventName,
  type PullRequestFacts,
  type ReviewFacts,
  type Sighting,
} from "../facts/facts.ts";
import type { Told } from "../state/pull-request-after.ts";
import { writeCoverage, writeInstallations, writeSightings } from "../stores/coverage-store.ts";
import { claimDeliveries, type Transaction } from "../stores/inbox-store.ts";
import { writePullRequests, writeReviews } from "../stores/outcome-store.ts";
import { inBatches } from "./in-batches.ts";

export type ApplyDeps = { database: Database; clock: Clock };

/** The inbox holds something that this version of `reduce` would not write. */
export class UnreadableFacts extends Error {
  override readonly name = "UnreadableFacts";
}

/** What accounts of GitHub's come down to, for one transaction. */
export type Accounts = {
  installations: InstallationFacts[];
  sightings: Sighting[];
  coverage: CoverageChange[];
  pullRequests: Told<PullRequestFacts>[];
  reviews: ReviewFacts[];
};

/** Writes accounts in one transaction. Locks are taken in one order, whatever the accounts' (see outcome-store.ts). */
export async function writeAccounts(tx: Transaction, accounts: Accounts): Promise<void> {
  await writeInstallations(tx, accounts.installations);
  await writeSightings(tx, accounts.sightings);
  await writeCoverage(tx, accounts.coverage);
  await writePullRequests(tx, accounts.pullRequests);
  await writeReviews(tx, accounts.reviews);
}

export const noAccounts = (): Accounts => ({
  installations: [],
  sightings: [],
  coverage: [],
  pullRequests: [],
  reviews: [],
});

/** A delivery of the inbox. */
export type InboxEvent = { id: string; name: string; facts: unknown };

const APPLIED_AT_ONCE = 200;

/**
 * Applies deliveries of the inbox to the tables and marks them applied, both or neither. One that was applied already,
 * or that another process has in hand, changes nothing. Those that come together share a transaction.
 */
export function createApplier({ database, clock }: ApplyDeps): (event: InboxEvent) => Promise<void> {
  const apply = inBatches(async (events: readonly Readable[]) => {
    await database.db.transaction(async (tx) => {
      const ids = events.map(({ id }) => id);
      const claimed = await claimDeliveries(tx, ids, clock.now());
      const accounts = noAccounts();
      for (const { id, addTo } of events) if (claimed.has(id)) addTo(accounts);
      await writeAccounts(tx, accounts);
    });
    return events.map(() => undefined);
  }, APPLIED_AT_ONCE);
  return async (event) => {
    await apply(read(event));
  };
}

type Readable = { id: string; addTo: (accounts: Accounts) => void };

/** @throws UnreadableFacts */
function read({ id, name, facts }: InboxEvent): Readable {
  const addTo = isEventName(name) ? READERS[name](facts, id) : null;
  if (addTo === null) throw new UnreadableFacts();
  return { id, addTo };
}

type Reader = (facts: unknown, deliveryId: string) => Readable["addTo"] | null;

const reader =
  <T extends TSchema>(schema: T, add: (accounts: Accounts, facts: Static<T>, deliveryId: string) => void) =>
  (facts: unknown, deliveryId: string): ReturnType<Reader> =>
    fits(schema, facts) ? (accounts) => add(accounts, facts, deliveryId) : null;

const ofRepository = (
  accounts: Accounts,
  facts: { sightings: readonly Sighting[]; coverage?: readonly CoverageChange[] },
) => {
  accounts.sightings.push(...facts.sightings);
  accounts.coverage.push(...(facts.coverage ?? []));
};

const READERS: Record<keyof typeof FACTS, Reader> = {
  pull_request: reader(FACTS.pull_request, (accounts, facts, deliveryId) => {
    ofRepository(accounts, facts);
    accounts.pullRequests.push({ deliveryId, facts });
  }),
  pull_request_review: reader(FACTS.pull_request_review, (accounts, facts) => {
    ofRepository(accounts, facts);
    accounts.reviews.push(facts);
  }),
  installation: reader(FACTS.installation, (accounts, facts) => {
    accounts.installations.push(facts);
    ofRepository(accounts, facts);
  }),
  installation_repositories: reader(FACTS.installation_repositories, ofRepository),
  repository: reader(FACTS.repository, ofRepository),
};
