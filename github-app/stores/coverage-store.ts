import { asc, desc, gt } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { installations, repositories } from "#drizzle/schema/github.ts";
import { coverageChanges } from "#drizzle/schema/github-app.ts";
import type { CoverageChange, InstallationFacts, Sighting } from "../facts/facts.ts";
import { installationAfter, repositoryAfter } from "../state/coverage-after.ts";
import { chunksOf, type KeyedTable, mergeRows } from "./merge-rows.ts";

const INSTALLATIONS: KeyedTable<typeof installations> = {
  table: installations,
  columns: [installations.id],
  keyOf: ({ id }) => [id],
};
const REPOSITORIES: KeyedTable<typeof repositories> = {
  table: repositories,
  columns: [repositories.id],
  keyOf: ({ id }) => [id],
};

export async function writeInstallations(tx: Transaction, facts: readonly InstallationFacts[]) {
  await mergeRows<typeof installations, InstallationFacts>(tx, facts, {
    ...INSTALLATIONS,
    keyOfFact: ({ installation }) => [installation.id],
    merge: installationAfter,
  });
  const removed = facts.filter((it) => it.state === "removed").map((it) => it.installation.id);
  if (removed.length === 0) return;
  const areLost = ours(repositories, { installationId: removed });
  await tx.update(repositories).set({ covered: false }).where(areLost);
}

/** Updates name, installation and coverage of the repositories that deliveries or lists showed. */
export async function writeSightings(tx: Transaction, sightings: readonly Sighting[]): Promise<void> {
  const removed = await removedInstallations(tx, sightings);
  const isRemoved = (it: Sighting) => it.installationId !== null && removed.has(it.installationId);
  await mergeRows<typeof repositories, Sighting>(tx, sightings, {
    ...REPOSITORIES,
    keyOfFact: ({ id }) => [id],
    merge: (before, it) => repositoryAfter(before, it, isRemoved(it)),
  });
}

async function removedInstallations(tx: Transaction, sightings: readonly Sighting[]): Promise<Set<number>> {
  const ids = [...new Set(sightings.flatMap((it) => it.installationId ?? []))];
  if (ids.length === 0) return new Set();
  const rows = await tx
    .select({ id: installations.id, state: installations.state })
    .from(installations)
    .where(ours(installations, { id: ids }))
    .orderBy(asc(installations.id))
    .for("share");
  return new Set(rows.filter((row) => row.state === "removed").map((row) => row.id));
}

/** Adds the starts and ends of coverage; a repetition adds nothing. */
export async function writeCoverage(tx: Transaction, changes: readonly CoverageChange[]): Promise<void> {
  for (const chunk of chunksOf(changes)) {
    await tx.insert(coverageChanges).values(chunk).onConflictDoNothing();
  }
}

export const coveredRepositories = (
  tx: Transaction,
  installationId: number,
): Promise<{ id: number; fullName: string; isPrivate: boolean | null }[]> =>
  tx
    .select({ id: repositories.id, fullName: repositories.fullName, isPrivate: repositories.isPrivate })
    .from(repositories)
    .where(ours(repositories, { installationId, covered: true }));

/** The repositories whose last coverage change in an installation is that they were added. */
export async function addedRepositories(tx: Transaction, installationId: number): Promise<Set<number>> {
  const { repositoryId: id, kind, at } = coverageChanges;
  const last = await tx
    .selectDistinctOn([id], { id, kind })
    .from(coverageChanges)
    .where(ours(coverageChanges, { installationId }, gt(id, 0)))
    .orderBy(asc(id), desc(at), asc(kind));
  return new Set(last.filter(({ kind }) => kind === "added").map(({ id }) => id));
}
