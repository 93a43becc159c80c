import { DEFAULT_ORG } from "#shared/ids.ts";
import { WEBHOOK_SECRET } from "#test/support/github-app.ts";
import { startGithubApp } from "#test/support/github-app-process.ts";
import { pullRequestPayload, signatureOf } from "#test/support/github-payloads.ts";
import { until } from "#test/support/until.ts";
import { cpuSecondsOf } from "../overhead/measure.ts";
import type { OwnPostgres } from "../reports/own-postgres.ts";
import type { Figures } from "./figures.ts";

const MERGES = 1000;
const WARM_UP = 100;
const AT_A_TIME = 20;

/** Pull requests that name sessions of `own` are opened and merged, at a real GitHub App. */
export async function measureMerges(own: OwnPostgres): Promise<Figures["merge"]> {
  const { sql } = own;
  await sql`
    insert into settings (org_id, value, updated_at) values (${DEFAULT_ORG}, '{"pull_request_stamping": true}', now())
    on conflict do nothing`;
  const sessions = (
    await sql<{ session: string }[]>`
      select session from requests group by session order by md5(session) desc limit ${MERGES + WARM_UP}`
  ).map(({ session }) => session);
  // A database that is kept has those of earlier runs.
  const [last] = await sql<
    { number: number }[]
  >`select coalesce(max(number), 0)::int as number from pull_requests`;
  const first = (last?.number ?? 0) + 1;
  const app = await startGithubApp({ DATABASE_URL: own.url, WEBHOOK_SECRET, LOG_LEVEL: "error" });
  try {
    const merge = async (from: number, to: number) => {
      for (let n = from; n < to; n += AT_A_TIME) {
        const some = sessions.slice(n, Math.min(to, n + AT_A_TIME));
        await Promise.all(some.map((session, k) => openAndMerge(app.url, session, first + n + k)));
      }
      await until(async () => {
        const [row] = await sql<{ n: number }[]>`
          select count(*)::int as n from pull_requests where number >= ${first} and link = 'joined'`;
        return row?.n === to;
      });
    };
    await merge(0, WARM_UP);
    const before = { app: cpuSecondsOf([app.pid()]), postgres: own.cpuMs() };
    await merge(WARM_UP, sessions.length);
    const merges = sessions.length - WARM_UP;
    return {
      app: round(((cpuSecondsOf([app.pid()]) - before.app) * 1000) / merges),
      postgres: round((own.cpuMs() - before.postgres) / merges),
    };
  } finally {
    await app.stop();
  }
}

const round = (value: number): number => Math.round(value * 10) / 10;

async function openAndMerge(url: string, session: string, number: number): Promise<void> {
  const common = { number, body: `Gateway-Session: ${session}` };
  await deliver(url, pullRequestPayload({ ...common, action: "opened", at: "2026-11-01T10:00:00Z" }));
  const at = "2026-11-01T12:00:00Z";
  await deliver(url, pullRequestPayload({ ...common, action: "closed", mergedAt: at, at }));
}

async function deliver(url: string, payload: object): Promise<void> {
  const body = JSON.stringify(payload);
  const answer = await fetch(`${url}/api/github/webhooks`, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "x-github-event": "pull_request",
      "x-github-delivery": crypto.randomUUID(),
      "x-hub-signature-256": signatureOf(body, WEBHOOK_SECRET),
    },
  });
  if (answer.status !== 202) throw new Error(`a delivery got ${answer.status}`);
}
