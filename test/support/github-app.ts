import { randomUUID } from "node:crypto";
import { Registry } from "prom-client";
import { type Database, openDatabase } from "#drizzle/database.ts";
import { createCredentials } from "#github-app/github/credentials.ts";
import { outcomes, receiveBy, startProbot } from "#github-app/inbox/probot.ts";
import { startWorker, WORKER_TIMING, type WorkerDeps } from "#github-app/inbox/worker.ts";
import { createServer } from "#github-app/server.ts";
import { createStore } from "#github-app/stores/inbox-store.ts";
import { type Clock, systemClock } from "#shared/clock.ts";
import { readGithubAppConfig } from "#shared/github-app-config.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Log, LogFields } from "#shared/log.ts";
import { atEnd } from "./at-end.ts";
import { type Payload, signatureOf } from "./github-payloads.ts";
import { testDatabase } from "./postgres.ts";
import { until } from "./until.ts";

export const WEBHOOK_SECRET = "a secret of more than sixteen characters";

/** A log that keeps its lines as text, debug included. */
export function keptLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const at = (level: string, own: LogFields) => (fields: LogFields, message: string) => {
    lines.push(JSON.stringify({ level, ...own, ...fields, message }));
  };
  const make = (own: LogFields): Log => ({
    debug: at("debug", own),
    info: at("info", own),
    warn: at("warn", own),
    error: at("error", own),
    child: (fields) => make({ ...own, ...fields }),
  });
  return { log: make({}), lines };
}

export type DeliverOptions = {
  deliveryId?: string;
  secret?: string;
  headers?: Record<string, string | undefined>;
};

/**
 * The App on a real socket and a real, fresh database: `deliver` sends a signed webhook, `applied` waits until the
 * worker has applied all that is stored.
 */
export async function testGithubApp(
  options: {
    secrets?: string[];
    stamping?: boolean;
    clock?: Clock;
    receive?: (real: WorkerDeps["receive"]) => WorkerDeps["receive"];
  } = {},
) {
  const { secrets = [WEBHOOK_SECRET], stamping = true, clock = systemClock } = options;
  const own = await testDatabase();
  const database = openDatabase(own.url, { name: "test", max: 6, statementTimeoutMs: 60_000 });
  const { log, lines } = keptLog();
  const probot = await startProbot(
    { app: null, apiUrl: "https://api.github.com", webhookSecrets: secrets },
    log,
    outcomes({ database, clock }),
  );
  const receive = receiveBy(probot);
  const worker = startWorker(
    { database, clock, log, receive: options.receive?.(receive) ?? receive },
    { ...WORKER_TIMING, pollMs: 50, sweepMs: 50 },
  );
  const server = createServer({
    ...pageDeps(database, log, { WEBHOOK_SECRET: secrets[0] }),
    secrets: () => secrets,
    store: createStore(database),
    stored: worker.wake,
    clock,
    ping: () => database.sql`select 1`,
  }).listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${server.server?.port}`;
  if (stamping) await switchStamping(database, true);

  return {
    url,
    databaseUrl: own.url,
    database,
    lines,
    worker,
    deliver: (event: string, payload: Payload | string, sent: DeliverOptions = {}) =>
      deliver(`${url}/api/github/webhooks`, event, payload, sent),
    applied: () => applied(database),
    switchStamping: (on: boolean) => switchStamping(database, on),
    close: atEnd(async () => {
      await server.stop(true);
      await worker.stop();
      await database.close();
      await own.close();
    }),
  };
}

/** What the App's pages need, of an App with these settings. */
export function pageDeps(database: Database, log: Log, settings: Record<string, string | undefined> = {}) {
  const config = readGithubAppConfig({ DATABASE_URL: "postgres://nobody@127.0.0.1/none", ...settings });
  return {
    config,
    log,
    database,
    credentials: createCredentials({ database, config, clock: systemClock, log }),
    spreadMs: 0,
    clients: () => null,
    registry: new Registry(),
    changed: () => undefined,
  };
}

/** Sends a signed webhook; a header given as undefined is left out. */
export function deliver(
  url: string,
  event: string,
  payload: Payload | string,
  { deliveryId = randomUUID(), secret = WEBHOOK_SECRET, headers = {} }: DeliverOptions = {},
): Promise<Response> {
  const body = typeof payload === "string" ? payload : JSON.stringify(payload);
  const all: Record<string, string | undefined> = {
    "content-type": "application/json",
    "user-agent": "GitHub-Hookshot/test",
    "x-github-event": event,
    "x-github-delivery": deliveryId,
    "x-hub-signature-256": signatureOf(body, secret),
    ...headers,
  };
  const present = Object.entries(all).filter((it): it is [string, string] => it[1] !== undefined);
  return fetch(url, { method: "POST", body, headers: present });
}

async function switchStamping({ sql }: Database, on: boolean): Promise<void> {
  const value = { pull_request_stamping: on };
  await sql`
    insert into settings (org_id, value, updated_at) values (${DEFAULT_ORG}, ${sql.json(value)}, now())
    on conflict (org_id) do update set value = excluded.value`;
}

async function applied({ sql }: Database): Promise<void> {
  await until(async () => {
    const [row] = await sql`select count(*)::int as pending from webhook_inbox where processed_at is null`;
    return row?.["pending"] === 0;
  });
}

/** A recorded call of a session, with nothing else of interest. */
export async function insertRequest({ sql }: Database, session: string, startedAt: string): Promise<void> {
  await sql`
    insert into requests (org_id, id, started_at, surface, channel, state, streamed, attempts, route, route_source,
      key_id, session, client, tags, usage_source, unpriced, partial)
    values (${DEFAULT_ORG}, ${Bun.randomUUIDv7()}, ${startedAt}::timestamptz, 'chat.completions', 'api', 'ok', false, 1,
      'echo', 'default', ${Bun.randomUUIDv7()}, ${session}, 'test', '{}', 'provider', false, false)`;
}

/** All rows of the tables that deliveries lead to, without when and how often they were delivered. */
export async function outcomeTables({ sql }: Database) {
  return {
    installations: await sql`select * from installations order by id`,
    repositories: await sql`select * from repositories order by id`,
    pullRequests: await sql`select * from pull_requests order by repository_id, number`,
    reviews: await sql`select * from reviews order by repository_id, id`,
  };
}
