import { type RepositoryCoverage, readCoverage } from "#drizzle/coverage.ts";
import type { Database } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Clients } from "../github/clients.ts";
import type { Credentials } from "../github/credentials.ts";
import { type Registration, readRegistration } from "../github/registration.ts";
import { statusOf } from "../github/wait.ts";
import { readAppSettings } from "../stores/settings-store.ts";

export type AppStatus = {
  app: number | null;
  registration: Registration | null;
  /** Null: the App was not registered here. */
  registered: Credentials["registered"];
  /** Why GitHub did not confirm the App. */
  registrationFault: string | null;
  installUrl: string | null;
  stamping: boolean;
  installations: { account: string; state: string; changedAt: string }[];
  repositories: RepositoryCoverage[];
  /** Whether there are more repositories. */
  more: boolean;
  pending: number;
  lastDeliveryAt: string | null;
};

const REPOSITORIES_MAX = 200;

/** The App's state at GitHub and in the database. */
export async function readAppStatus(
  database: Database,
  { identity, registered }: Credentials,
  clients: Clients | null,
): Promise<AppStatus> {
  const { sql, db } = database;
  const settings = await readAppSettings(database);
  const repositories = await readCoverage(db, { limit: REPOSITORIES_MAX + 1, after: 0 });
  const installations = await sql<{ account_login: string; state: string; changed_at: Date }[]>`
    select account_login, state, changed_at from installations where org_id = ${DEFAULT_ORG} order by account_login`;
  const [inbox] = await sql<{ pending: number; last: Date | null }[]>`
    select (count(*) filter (where processed_at is null))::integer as pending, max(received_at) as last
    from webhook_inbox where org_id = ${DEFAULT_ORG}`;
  const known = clients && (await readRegistration(clients.app, settings).catch(faultOf));
  return {
    app: identity?.app.id ?? null,
    registration: typeof known === "string" ? null : known,
    registrationFault: typeof known === "string" ? known : null,
    registered,
    installUrl: registered && `${registered.htmlUrl}/installations/new`,
    stamping: settings.pull_request_stamping,
    installations: installations.map((it) => ({
      account: it.account_login,
      state: it.state,
      changedAt: it.changed_at.toISOString(),
    })),
    repositories: repositories.slice(0, REPOSITORIES_MAX),
    more: repositories.length > REPOSITORIES_MAX,
    pending: inbox?.pending ?? 0,
    lastDeliveryAt: inbox?.last?.toISOString() ?? null,
  };
}

function faultOf(error: unknown): string {
  const status = statusOf(error);
  if (status === 401 || status === 404)
    return "GitHub does not know this App, or its private key is a different one.";
  return "GitHub could not be reached.";
}
