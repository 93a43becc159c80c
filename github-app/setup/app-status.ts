import { type RepositoryCoverage, readCoverage } from "#drizzle/coverage.ts";
import type { Database } from "#drizzle/database.ts";
import { missingPermissions } from "#shared/github-permissions.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Settings } from "#shared/settings.ts";
import type { Clients } from "../github/clients.ts";
import type { Credentials } from "../github/credentials.ts";
import { type RecentDeliveries, recentDeliveries } from "../github/deliveries.ts";
import type { Github } from "../github/octokit.ts";
import { type Registration, readRegistration } from "../github/registration.ts";
import { statusOf, waitMsOf } from "../github/wait.ts";
import { readAppSettings } from "../stores/settings-store.ts";
import { readAnswers } from "../stores/webhook-answers.ts";

export type AppStatus = {
  app: number | null;
  /** Whether a webhook secret is known. */
  receives: boolean;
  registration: Registration | null;
  /** Null: the App was not registered here. */
  registered: Credentials["registered"];
  /** Why GitHub did not confirm the App. */
  registrationFault: string | null;
  installUrl: string | null;
  stamping: boolean;
  installations: { account: string; state: string; changedAt: string; missing: string[] }[];
  repositories: RepositoryCoverage[];
  /** Whether there are more repositories. */
  more: boolean;
  pending: number;
  /** When a delivery with the right signature last arrived, a ping included; null: never. */
  reachedAt: string | null;
  /** When a delivery was last refused, and why. */
  refused: { answer: string; at: string }[];
  /** Null: GitHub was not asked, or did not answer. */
  recent: RecentDeliveries | null;
};

const REPOSITORIES_MAX = 200;

/** The App's state on GitHub and in the database. */
export async function readAppStatus(
  database: Database,
  { identity, registered, webhookSecrets }: Credentials,
  clients: Clients | null,
): Promise<AppStatus> {
  const settings = await readAppSettings(database);
  const repositories = await readCoverage(database.db, { limit: REPOSITORIES_MAX + 1, after: 0 });
  const stored = await readInstallations(database, settings);
  const [known, recent] = await Promise.all([
    clients && readRegistration(clients.app, settings).catch(faultOf),
    clients && recentDeliveries(clients.app).catch(() => null),
  ]);
  return {
    app: identity?.app.id ?? null,
    receives: webhookSecrets.length > 0,
    registration: typeof known === "string" ? null : known,
    registrationFault: typeof known === "string" ? known : null,
    registered,
    installUrl: registered && `${registered.htmlUrl}/installations/new`,
    stamping: settings.pull_request_stamping,
    installations: stored.length > 0 || !clients ? stored : await listInstallations(clients.app, settings),
    repositories: repositories.slice(0, REPOSITORIES_MAX),
    more: repositories.length > REPOSITORIES_MAX,
    ...(await readArrivals(database)),
    recent,
  };
}

async function readInstallations({ sql }: Database, settings: Settings): Promise<AppStatus["installations"]> {
  type Row = {
    account_login: string;
    state: string;
    changed_at: Date;
    permissions: Record<string, string> | null;
  };
  const rows = await sql<Row[]>`
    select account_login, state, changed_at, permissions from installations
    where org_id = ${DEFAULT_ORG} order by account_login`;
  return rows.map((it) => ({
    account: it.account_login,
    state: it.state,
    changedAt: it.changed_at.toISOString(),
    missing:
      it.permissions === null || it.state !== "active" ? [] : missingPermissions(it.permissions, settings),
  }));
}

/** As GitHub lists them: while nothing is measured, none is stored. */
async function listInstallations(app: Github, settings: Settings): Promise<AppStatus["installations"]> {
  const { data } = await app.rest.apps
    .listInstallations({ per_page: 100 })
    .catch(() => ({ data: [] as Listed[] }));
  return data.map((it) => ({
    account: it.account && "login" in it.account ? it.account.login : String(it.id),
    state: it.suspended_at ? "suspended" : "active",
    changedAt: it.updated_at,
    missing: missingPermissions(it.permissions, settings),
  }));
}

type Listed = Awaited<ReturnType<Github["rest"]["apps"]["listInstallations"]>>["data"][number];

/** Ways in which a delivery is answered that had the right signature. */
const VERIFIED = ["ping", "accepted"];

async function readArrivals(
  database: Database,
): Promise<Pick<AppStatus, "pending" | "reachedAt" | "refused">> {
  const [inbox] = await database.sql<{ pending: number; last: Date | null }[]>`
    select (count(*) filter (where processed_at is null))::integer as pending, max(received_at) as last
    from webhook_inbox where org_id = ${DEFAULT_ORG}`;
  const answers = Object.entries(await readAnswers(database));
  const verified = answers.filter(([answer]) => VERIFIED.includes(answer)).map(([, at]) => at);
  const times = [...verified, ...(inbox?.last ? [inbox.last.toISOString()] : [])].sort();
  return {
    pending: inbox?.pending ?? 0,
    reachedAt: times.at(-1) ?? null,
    refused: answers.filter(([answer]) => !VERIFIED.includes(answer)).map(([answer, at]) => ({ answer, at })),
  };
}

function faultOf(error: unknown): string {
  const waitMs = waitMsOf(error, new Date());
  if (waitMs !== null) return `GitHub asked to wait; ask again in ${Math.ceil(waitMs / 60_000)} min.`;
  const status = statusOf(error);
  if (status === 401 || status === 404)
    return "GitHub does not know this App, or its private key is a different one.";
  return "GitHub could not be reached.";
}
