import type { Database } from "#drizzle/database.ts";
import { installations } from "#drizzle/schema/github.ts";
import type { Clock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";
import { fits } from "#shared/schema.ts";
import { installationFacts } from "../facts/coverage-facts.ts";
import { InstallationPayload } from "../facts/payloads.ts";
import { type Github, statusOf, waitMsOf } from "../github/octokit.ts";
import { type Accounts, noAccounts, writeAccounts } from "../inbox/apply.ts";
import { addedRepositories, coveredRepositories } from "../stores/coverage-store.ts";
import { expectPasses } from "./passes.ts";

export type InstallationDeps = {
  database: Database;
  clock: Clock;
  log: Log;
  appGithub: Github;
  github: (installationId: number) => Github;
  /** Days before their first pass that repositories are read back to; null: to their first pull request. */
  backfillDays: number | null;
};

export type Seen = { installations: number; repositories: number; fresh: number };

/**
 * Asks GitHub where the App is installed and which repositories it sees there, and writes what differs: installations
 * and repositories that came, went or were renamed without a delivery that said so.
 */
export async function readInstallations(deps: InstallationDeps): Promise<Seen> {
  const { database, clock, appGithub } = deps;
  const listed = await appGithub.paginate(appGithub.rest.apps.listInstallations, { per_page: 100 });
  const now = clock.now();
  const accounts = noAccounts();
  for (const installation of listed) {
    const payload = { action: "asked", installation };
    if (!fits(InstallationPayload, payload)) continue;
    accounts.installations.push({ ...installationFacts(payload, now), coverage: [] });
  }
  const seen = new Set(accounts.installations.map((it) => it.installation.id));
  const gone = (await knownInstallations(database)).filter((it) => !seen.has(it.id));
  for (const it of gone) addUninstalled(accounts, it, now);
  await database.db.transaction((tx) => writeAccounts(tx, accounts));

  const active = accounts.installations.filter((it) => it.state === "active");
  let repositories = 0;
  let fresh = 0;
  for (const { installation } of active) {
    const ids = await readRepositories(deps, installation.id).catch((error: unknown) => {
      // One that was just suspended or removed must not hold up the others.
      if (waitMsOf(error, now) !== null || statusOf(error) === null) throw error;
      deps.log.warn(
        { installationId: installation.id, status: statusOf(error) },
        "an installation cannot be read",
      );
      return [];
    });
    repositories += ids.length;
    fresh += await expectPasses(database, installation.id, ids, { now, stopAt: stopAt(deps, now) });
  }
  return { installations: active.length, repositories, fresh };
}

const stopAt = ({ backfillDays }: InstallationDeps, now: Date): Date | null =>
  backfillDays === null ? null : new Date(now.getTime() - backfillDays * 86_400_000);

type Known = Pick<typeof installations.$inferSelect, "id" | "accountLogin" | "accountId" | "state">;

async function knownInstallations({ db }: Database): Promise<Known[]> {
  const rows = await db.select().from(installations);
  return rows.filter((row) => row.state !== "removed");
}

function addUninstalled(accounts: Accounts, it: Known, now: Date): void {
  const at = now.toISOString();
  accounts.installations.push({
    action: "asked",
    installation: { id: it.id },
    sightings: [],
    accountLogin: it.accountLogin,
    accountId: it.accountId,
    state: "removed",
    at,
  });
  accounts.coverage.push({ installationId: it.id, repositoryId: 0, kind: "uninstalled", at });
}

/** Writes which repositories an installation has now; answers their ids. */
async function readRepositories(
  { database, clock, github }: InstallationDeps,
  installationId: number,
): Promise<number[]> {
  const octokit = github(installationId);
  const listed = await octokit.paginate(octokit.rest.apps.listReposAccessibleToInstallation, {
    per_page: 100,
  });
  const at = clock.now().toISOString();
  await database.db.transaction(async (tx) => {
    const before = await coveredRepositories(tx, installationId);
    // A pull request's delivery shows a repository, but not since when it is seen.
    const added = await addedRepositories(tx, installationId);
    const named = listed.map((it) => ({ id: it.id, fullName: it.full_name }));
    await writeAccounts(tx, differences({ installationId, at, listed: named, before, added }));
  });
  return listed.map(({ id }) => id);
}

type Named = { id: number; fullName: string };

/** What a list of an installation's repositories says that is not known yet. */
function differences(it: {
  installationId: number;
  at: string;
  listed: readonly Named[];
  before: readonly Named[];
  added: ReadonlySet<number>;
}): Accounts {
  const { installationId, at, added } = it;
  const known = new Map(it.before.map(({ id, fullName }) => [id, fullName]));
  const present = new Set(it.listed.map(({ id }) => id));
  const sightings = [
    ...it.listed
      .filter(({ id, fullName }) => known.get(id) !== fullName)
      .map((one) => ({ ...one, covered: true })),
    ...it.before.filter(({ id }) => !present.has(id)).map((one) => ({ ...one, covered: false })),
  ];
  const changes = [
    ...it.listed
      .filter(({ id }) => !added.has(id))
      .map(({ id }) => ({ repositoryId: id, kind: "added" as const })),
    ...[...added]
      .filter((id) => !present.has(id))
      .map((id) => ({ repositoryId: id, kind: "removed" as const })),
  ];
  return {
    ...noAccounts(),
    sightings: sightings.map((one) => ({ ...one, formerNames: [], installationId, at })),
    coverage: changes.map((one) => ({ ...one, installationId, at })),
  };
}
