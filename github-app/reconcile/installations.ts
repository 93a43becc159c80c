import type { Database } from "#drizzle/database.ts";
import { installations } from "#drizzle/schema/github.ts";
import type { Ambient } from "#shared/clock.ts";
import { missingPermissions } from "#shared/github-permissions.ts";
import { fits } from "#shared/schema.ts";
import type { Settings } from "#shared/settings.ts";
import { installationFacts } from "../facts/coverage-facts.ts";
import type { InstallationFacts } from "../facts/facts.ts";
import { InstallationPayload } from "../facts/payloads.ts";
import type { Clients } from "../github/clients.ts";
import { statusOf, waitMsOf } from "../github/wait.ts";
import { addedRepositories, coveredRepositories } from "../stores/coverage-store.ts";
import { emptyBatch, type FactBatch, writeFacts } from "../stores/fact-batch.ts";
import { createPasses } from "../stores/pass-store.ts";
import type { Repository, RepositoryLists } from "./repository-lists.ts";

export type InstallationDeps = Ambient & {
  database: Database;
  clients: Clients;
  lists: RepositoryLists;
  settings: Settings;
  /** How far the first pass of a repository goes back; null: to its first pull request. */
  backfillDays: number | null;
};

/** What GitHub lists; `created`: repositories to read first; `waitMs`: milliseconds until the rest can be read. */
export type Listed = { installations: number; repositories: number; created: number; waitMs: number };

/** Reads installations and their repositories from GitHub, and writes what changed without a delivery. */
export async function readInstallations(deps: InstallationDeps): Promise<Listed> {
  const { database, clock, clients } = deps;
  const listed = await clients.app.paginate(clients.app.rest.apps.listInstallations, { per_page: 100 });
  const now = clock.now();
  const batch = emptyBatch();
  for (const installation of listed) {
    const payload = { action: "listed", installation };
    if (!fits(InstallationPayload, payload)) continue;
    batch.installations.push({ ...installationFacts(payload, now), coverage: [] });
  }
  const present = new Set(batch.installations.map((it) => it.installation.id));
  for (const it of await knownInstallations(database)) {
    if (!present.has(it.id)) addUninstalled(batch, it, now);
  }
  await database.db.transaction((tx) => writeFacts(tx, batch));

  const active = batch.installations.filter((it) => it.state === "active");
  reportPermissions(deps, active);
  const stopAt = deps.backfillDays === null ? null : new Date(now.getTime() - deps.backfillDays * 86_400_000);
  let repositories = 0;
  let created = 0;
  let waitMs = 0;
  for (const { installation } of active) {
    const repositoryIds = await readRepositories(deps, installation.id).catch((error: unknown) => {
      // One that must wait, or was just suspended or removed, must not block the others.
      const asked = waitMsOf(error, clock.now());
      waitMs = Math.max(waitMs, asked ?? 0);
      if (asked !== null) return [];
      if (statusOf(error) === null) throw error;
      const fields = { installationId: installation.id, status: statusOf(error) };
      deps.log.warn(fields, "an installation cannot be read");
      return [];
    });
    repositories += repositoryIds.length;
    created += await createPasses(database, { id: installation.id, repositoryIds }, { now, stopAt });
  }
  return { installations: active.length, repositories, created, waitMs };
}

/** Logs permissions that accounts have not accepted yet, because GitHub would silently allow less. */
function reportPermissions({ log, settings }: InstallationDeps, active: readonly InstallationFacts[]): void {
  for (const { installation, accountLogin: account, permissions } of active) {
    const missing = missingPermissions(permissions ?? {}, settings);
    if (permissions === null || missing.length === 0) continue;
    const fields = { installationId: installation.id, account, permissions: missing.join(", ") };
    log.warn(fields, "an installation has not accepted permissions that the settings need");
  }
}

type Known = Pick<typeof installations.$inferSelect, "id" | "accountLogin" | "accountId" | "state">;

async function knownInstallations({ db }: Database): Promise<Known[]> {
  const rows = await db.select().from(installations);
  return rows.filter((row) => row.state !== "removed");
}

function addUninstalled(batch: FactBatch, { id, accountLogin, accountId }: Known, now: Date): void {
  const at = now.toISOString();
  batch.installations.push({
    action: "listed",
    installation: { id },
    sightings: [],
    accountLogin,
    accountId,
    permissions: null,
    state: "removed",
    at,
  });
  batch.coverage.push({ installationId: id, repositoryId: 0, kind: "uninstalled", at });
}

/** Writes which repositories an installation has now. @returns their ids. */
async function readRepositories(
  { database, clock, clients, lists }: InstallationDeps,
  installationId: number,
): Promise<number[]> {
  const listed = await lists(clients.installation(installationId), installationId);
  const at = clock.now().toISOString();
  await database.db.transaction(async (tx) => {
    const before = await coveredRepositories(tx, installationId);
    // A delivery of a pull request shows that a repository is covered, but not since when.
    const added = await addedRepositories(tx, installationId);
    await writeFacts(tx, differences({ installationId, at, listed, before, added }));
  });
  return listed.map(({ id }) => id);
}

/** Facts of a list of an installation's repositories that are not known yet. */
function differences(it: {
  installationId: number;
  at: string;
  listed: readonly Repository[];
  before: readonly Repository[];
  added: ReadonlySet<number>;
}): FactBatch {
  const { installationId, at, added } = it;
  const shown = (one: Repository) => `${one.isPrivate} ${one.fullName}`;
  const known = new Map(it.before.map((one) => [one.id, shown(one)]));
  const present = new Set(it.listed.map(({ id }) => id));
  const appeared = it.listed.filter((one) => known.get(one.id) !== shown(one));
  const disappeared = it.before.filter(({ id }) => !present.has(id));
  const sighting = (covered: boolean) => (one: Repository) => ({
    ...one,
    covered,
    formerNames: [],
    installationId,
    at,
  });
  const change = (kind: "added" | "removed") => (repositoryId: number) => ({
    installationId,
    repositoryId,
    kind,
    at,
  });
  return {
    ...emptyBatch(),
    sightings: [...appeared.map(sighting(true)), ...disappeared.map(sighting(false))],
    coverage: [
      ...[...present].filter((id) => !added.has(id)).map(change("added")),
      ...[...added].filter((id) => !present.has(id)).map(change("removed")),
    ],
  };
}
