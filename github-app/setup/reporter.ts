import type { Database } from "#drizzle/database.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import type { GithubAppReport } from "#shared/admin/github-app.ts";
import type { Ambient, Clock } from "#shared/clock.ts";
import type { GithubAppConfig } from "#shared/github-app-config.ts";
import { missingPermissions } from "#shared/github-permissions.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { errorFields } from "#shared/log.ts";
import { changeWebhookSecret } from "../github/change-webhook-secret.ts";
import type { Clients } from "../github/clients.ts";
import type { CredentialStore } from "../github/credentials.ts";
import { recentDeliveries } from "../github/deliveries.ts";
import { readRegistration } from "../github/registration.ts";
import { statusOf, waitMsOf } from "../github/wait.ts";
import { readAppSettings } from "../stores/settings-store.ts";

type Deps = Ambient & {
  database: Database;
  config: Pick<GithubAppConfig, "ownUrl" | "port" | "webhookPath">;
  credentials: CredentialStore;
  /** Null while the App has no identity on GitHub. */
  clients: () => Clients | null;
  /** After this time every process of the App has read what one of them stored. */
  spreadMs: number;
};

const POLL_MS = 2_000;

/** Stores the App's state for the console, and does what an administrator asks for there. `changed`: it is another now. */
export function startReporter(deps: Deps): Poller & { changed(): void } {
  const { sql } = deps.database;
  let isStale = true;
  const poller = poll({
    log: deps.log,
    pollMs: POLL_MS,
    round: async () => {
      const [row] = await sql<{ asked: boolean; secret: boolean; at: Date }[]>`
        update github_app_reports set seen_at = now() where org_id = ${DEFAULT_ORG}
        returning coalesce(asked_at > reported_at, false) as asked, secret_asked_at is not null as secret, now() as at`;
      if (row?.secret && (await takeSecretChange(deps.database))) {
        await changeSecret(deps);
        isStale = true;
      }
      if (row && !isStale && !row.asked) return false;
      isStale = false;
      await writeReport(deps.database, await readReport(deps, row?.asked ?? false), row?.at ?? null);
      return false;
    },
  });
  return {
    ...poller,
    changed: () => {
      isStale = true;
      poller.wake();
    },
  };
}

/** `at`: when the report was begun, by the database's clock; null: now. */
async function writeReport({ sql }: Database, report: GithubAppReport, at: Date | null): Promise<void> {
  await sql`
    insert into github_app_reports (org_id, report, seen_at, reported_at)
    values (${DEFAULT_ORG}, ${sql.json(report)}, now(), coalesce(${at?.toISOString() ?? null}::timestamptz, now()))
    on conflict (org_id) do update set report = excluded.report, reported_at = excluded.reported_at`;
}

/** True for one process: the one that makes the change. */
async function takeSecretChange({ sql }: Database): Promise<boolean> {
  const taken = await sql`
    update github_app_reports set secret_asked_at = null
    where org_id = ${DEFAULT_ORG} and secret_asked_at is not null returning 1`;
  return taken.count > 0;
}

async function changeSecret({ credentials: { edit }, clients, spreadMs, clock, log }: Deps): Promise<void> {
  const present = clients();
  if (edit === null || present === null) return;
  const updateGithub = async (secret: string) => {
    await present.app.rest.apps.updateWebhookConfigForApp({ secret });
  };
  try {
    await changeWebhookSecret({ edit, updateGithub, spreadMs, clock });
    log.info({ appId: present.appId }, "the webhook secret was changed");
  } catch (error) {
    log.error({ ...errorFields(error), status: statusOf(error) }, "the webhook secret was not changed");
  }
}

/** `asks`: also what GitHub knows of the App. */
async function readReport(deps: Deps, asks: boolean): Promise<GithubAppReport> {
  const { config, credentials } = deps;
  const { identity, registered, webhookSecrets } = credentials.current();
  return {
    url: config.ownUrl,
    port: config.port,
    webhook_path: config.webhookPath,
    can_register: credentials.register !== null,
    receives: webhookSecrets.length > 0,
    app: identity && {
      id: identity.app.id,
      slug: registered?.slug ?? null,
      html_url: registered?.htmlUrl ?? null,
    },
    secret_pending: registered?.secretPending ?? false,
    former_secret_until: registered?.formerSecretUntil ?? null,
    missing: [],
    installations: [],
    failed_deliveries: null,
    fault: null,
    ...(asks && (await askGithub(deps))),
  };
}

async function askGithub({ database, clients, clock }: Deps): Promise<Partial<GithubAppReport>> {
  const app = clients()?.app;
  if (app === undefined) return {};
  try {
    const settings = await readAppSettings(database);
    const [known, recent, { data }] = await Promise.all([
      readRegistration(app, settings),
      recentDeliveries(app),
      app.rest.apps.listInstallations({ per_page: 100 }),
    ]);
    const { total, failed, lastFailure } = recent;
    return {
      missing: [...known.missingPermissions, ...known.missingEvents],
      installations: data
        .filter((it) => !it.suspended_at)
        .map((it) => ({
          account: it.account && "login" in it.account ? it.account.login : String(it.id),
          missing: missingPermissions(it.permissions, settings),
        })),
      failed_deliveries: lastFailure && { total, failed, ...lastFailure },
    };
  } catch (error) {
    return { fault: faultOf(error, clock) };
  }
}

function faultOf(error: unknown, clock: Clock): string {
  const waitMs = waitMsOf(error, clock.now());
  if (waitMs !== null) return `GitHub asked to wait ${Math.ceil(waitMs / 60_000)} min.`;
  const status = statusOf(error);
  if (status === 401 || status === 404)
    return "GitHub does not know this App, or its private key is a different one.";
  return "GitHub could not be reached.";
}
