import { and, asc, desc, eq, gt, inArray, sql } from "drizzle-orm";
import { installations, repositories } from "#drizzle/schema/github.ts";
import { coverageChanges } from "#drizzle/schema/github-app.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { CoverageChange, InstallationFacts, Sighting } from "../facts/facts.ts";
import {
  type InstallationState,
  installationAfter,
  type RepositoryState,
  repositoryAfter,
} from "../state/coverage-after.ts";
import type { Transaction } from "./inbox-store.ts";
import { chunksOf, joinRows } from "./join-rows.ts";

const ofOrg = (id: number) => and(eq(installations.orgId, DEFAULT_ORG), eq(installations.id, id));

export async function writeInstallations(
  tx: Transaction,
  facts: readonly InstallationFacts[],
): Promise<void> {
  await joinRows<InstallationFacts, InstallationState>(facts, {
    keyOf: (it) => it.installation.id,
    keyOfRow: (row) => row.id,
    lock: (seen) =>
      tx
        .select()
        .from(installations)
        .where(
          and(
            eq(installations.orgId, DEFAULT_ORG),
            inArray(
              installations.id,
              seen.map((it) => it.installation.id),
            ),
          ),
        )
        .orderBy(asc(installations.id))
        .for("update"),
    join: installationAfter,
    insert: (rows) =>
      tx
        .insert(installations)
        .values(rows.map((row) => ({ ...row, orgId: DEFAULT_ORG })))
        .onConflictDoNothing()
        .returning(),
    update: async (rows) => {
      for (const row of rows) await tx.update(installations).set(row).where(ofOrg(row.id));
    },
  });
  const removed = facts.filter((it) => it.state === "removed").map((it) => it.installation.id);
  if (removed.length === 0) return;
  await tx
    .update(repositories)
    .set({ covered: false })
    .where(and(eq(repositories.orgId, DEFAULT_ORG), inArray(repositories.installationId, removed)));
}

/** Keeps names, installation and coverage of the repositories that deliveries or answers showed. */
export async function writeSightings(tx: Transaction, sightings: readonly Sighting[]): Promise<void> {
  const removed = await removedInstallations(tx, sightings);
  const isRemoved = (it: Sighting) => it.installationId !== null && removed.has(it.installationId);
  await joinRows<Sighting, RepositoryState>(sightings, {
    keyOf: (it) => it.id,
    keyOfRow: (row) => row.id,
    lock: (seen) =>
      tx
        .select()
        .from(repositories)
        .where(
          and(
            eq(repositories.orgId, DEFAULT_ORG),
            inArray(
              repositories.id,
              seen.map((it) => it.id),
            ),
          ),
        )
        .orderBy(asc(repositories.id))
        .for("update"),
    join: (state, it) => repositoryAfter(state, it, isRemoved(it)),
    insert: (rows) =>
      tx
        .insert(repositories)
        .values(rows.map((row) => ({ ...row, orgId: DEFAULT_ORG })))
        .onConflictDoNothing()
        .returning(),
    update: async (rows) => {
      for (const row of rows) {
        await tx
          .update(repositories)
          .set(row)
          .where(and(eq(repositories.orgId, DEFAULT_ORG), eq(repositories.id, row.id)));
      }
    },
  });
}

async function removedInstallations(tx: Transaction, sightings: readonly Sighting[]): Promise<Set<number>> {
  const ids = [...new Set(sightings.flatMap((it) => it.installationId ?? []))];
  if (ids.length === 0) return new Set();
  const rows = await tx
    .select({ id: installations.id, state: installations.state })
    .from(installations)
    .where(and(eq(installations.orgId, DEFAULT_ORG), inArray(installations.id, ids)))
    .orderBy(asc(installations.id))
    .for("share");
  return new Set(rows.filter((row) => row.state === "removed").map((row) => row.id));
}

/** Adds what began or ended the sight of repositories; a repetition adds nothing. */
export async function writeCoverage(tx: Transaction, changes: readonly CoverageChange[]): Promise<void> {
  for (const chunk of chunksOf(changes)) {
    await tx
      .insert(coverageChanges)
      .values(chunk.map((it) => ({ ...it, orgId: DEFAULT_ORG })))
      .onConflictDoNothing();
  }
}

/** The repositories that an installation is known to cover. */
export const coveredRepositories = (
  tx: Transaction,
  installationId: number,
): Promise<{ id: number; fullName: string }[]> =>
  tx
    .select({ id: repositories.id, fullName: repositories.fullName })
    .from(repositories)
    .where(
      and(
        eq(repositories.orgId, DEFAULT_ORG),
        eq(repositories.installationId, installationId),
        sql`${repositories.covered}`,
      ),
    );

/** The repositories of which an installation's last change was that they were added to it. */
export async function addedRepositories(tx: Transaction, installationId: number): Promise<Set<number>> {
  const last = await tx
    .selectDistinctOn([coverageChanges.repositoryId], {
      id: coverageChanges.repositoryId,
      kind: coverageChanges.kind,
    })
    .from(coverageChanges)
    .where(
      and(
        eq(coverageChanges.orgId, DEFAULT_ORG),
        eq(coverageChanges.installationId, installationId),
        gt(coverageChanges.repositoryId, 0),
      ),
    )
    .orderBy(asc(coverageChanges.repositoryId), desc(coverageChanges.at), asc(coverageChanges.kind));
  return new Set(last.filter(({ kind }) => kind === "added").map(({ id }) => id));
}
