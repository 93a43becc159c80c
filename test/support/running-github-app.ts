import { type Database, openDatabase } from "#drizzle/database.ts";
import { startGithubApp } from "#github-app/app.ts";
import { RECONCILE_TIMING } from "#github-app/reconcile/reconciler.ts";
import { REDELIVER_TIMING } from "#github-app/redeliver/redeliver.ts";
import { type Clock, systemClock } from "#shared/clock.ts";
import { readGithubAppConfig } from "#shared/github-app-config.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Settings } from "#shared/settings.ts";
import { atEnd } from "./at-end.ts";
import type { FakeGithub } from "./fake-github/fake-github.ts";
import { keptLog } from "./github-app.ts";
import { freePort } from "./ports.ts";

/** The whole App in this process, with its identity at the stand-in for GitHub, at a pace for tests. */
export async function runGithubApp(
  github: FakeGithub,
  databaseUrl: string,
  timing: {
    reconcile?: Partial<typeof RECONCILE_TIMING>;
    redeliver?: Partial<typeof REDELIVER_TIMING>;
    writeMs?: number;
    clock?: Clock;
  } = {},
) {
  const port = freePort();
  const { log, lines } = keptLog();
  const config = readGithubAppConfig({
    DATABASE_URL: databaseUrl,
    GITHUB_APP_PORT: String(port),
    APP_ID: String(github.app.id),
    PRIVATE_KEY: github.app.privateKey,
    WEBHOOK_SECRET: github.app.webhookSecret,
    GHE_HOST: github.host,
    GHE_PROTOCOL: "http",
  });
  const reconcile = { ...RECONCILE_TIMING, pollMs: 20, leaseMs: 1_000, retryMs: 100, ...timing.reconcile };
  const redeliver = { ...REDELIVER_TIMING, pollMs: 20, leaseMs: 1_000, ...timing.redeliver };
  const app = await startGithubApp({
    config,
    clock: timing.clock ?? systemClock,
    log,
    writeMs: timing.writeMs ?? 0,
    timing: { reconcile, redeliver, feedback: { pollMs: 100 } },
  });
  app.server.listen({ hostname: "127.0.0.1", port });
  const stop = atEnd(() => app.stop());
  return { webhooks: `http://127.0.0.1:${port}/api/github/webhooks`, lines, stop };
}

/** The App in this process with exactly these settings, at its own pace: what `startGithubApp` starts as a process. */
export async function localGithubApp(settings: Record<string, string>): Promise<{ url: string }> {
  const port = freePort();
  const config = readGithubAppConfig({ GITHUB_APP_PORT: String(port), ...settings });
  const app = await startGithubApp({ config, clock: systemClock, log: keptLog().log });
  atEnd(() => app.stop());
  app.server.listen({ hostname: "127.0.0.1", port });
  return { url: `http://127.0.0.1:${port}` };
}

async function storeSettings({ sql }: Database, settings: Partial<Settings>): Promise<void> {
  await sql`
    insert into settings (org_id, value, updated_at) values (${DEFAULT_ORG}, ${sql.json(settings)}, now())
    on conflict (org_id) do update set value = excluded.value`;
}

/** A database in which pull-request stamping is on. */
export async function stampingDatabase(url: string, settings: Partial<Settings> = {}): Promise<Database> {
  const database = openDatabase(url, { name: "test", max: 2, statementTimeoutMs: 60_000 });
  await storeSettings(database, { pull_request_stamping: true, ...settings });
  return database;
}
