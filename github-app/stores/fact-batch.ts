import type { Transaction } from "#drizzle/database.ts";
import type {
  CoverageChange,
  InstallationFacts,
  PullRequestFacts,
  ReviewFacts,
  Sighting,
} from "../facts/facts.ts";
import type { Reported } from "../state/pull-request-after.ts";
import { writeCoverage, writeInstallations, writeSightings } from "./coverage-store.ts";
import { writePullRequests, writeReviews } from "./outcome-store.ts";

/** Facts of any number of deliveries, or of GitHub's lists, for one transaction. */
export type FactBatch = {
  installations: InstallationFacts[];
  sightings: Sighting[];
  coverage: CoverageChange[];
  pullRequests: Reported<PullRequestFacts>[];
  reviews: ReviewFacts[];
};

export const emptyBatch = (): FactBatch => ({
  installations: [],
  sightings: [],
  coverage: [],
  pullRequests: [],
  reviews: [],
});

/** Writes facts. Tables are locked in this order, and rows by their keys, so that no two writers deadlock. */
export async function writeFacts(tx: Transaction, batch: FactBatch): Promise<void> {
  await writeInstallations(tx, batch.installations);
  await writeSightings(tx, batch.sightings);
  await writeCoverage(tx, batch.coverage);
  await writePullRequests(tx, batch.pullRequests);
  await writeReviews(tx, batch.reviews);
}
