import type { Database } from "#drizzle/database.ts";
import { failureClass } from "#drizzle/leases/failure-class.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import type { Clock } from "#shared/clock.ts";
import type { Log } from "#shared/log.ts";
import { isEventName } from "../facts/facts.ts";
import type { Clients } from "../github/clients.ts";
import { type Github, statusOf, waitMsOf } from "../github/octokit.ts";
import { storedDeliveries } from "../stores/inbox-store.ts";
import { readAppSettings } from "../stores/settings-store.ts";
import { takeTask } from "../stores/task-store.ts";

export type RedeliverDeps = {
  database: Database;
  clock: Clock;
  log: Log;
  /** Null while the App has no identity at GitHub. */
  clients: () => Clients | null;
  /** Counts requested redeliveries. */
  count: (of: "redelivered", by: number) => void;
};

export const REDELIVER_TIMING = {
  pollMs: 30_000,
  /** Between looks at GitHub's list of deliveries. */
  everyMs: 10 * 60_000,
  leaseMs: 15 * 60_000,
};

const RETRY_MS = 60_000;
/** GitHub redelivers for three days (an Enterprise Server for seven). */
const DAYS_MAX = 3;
const OVERLAP_MS = 15 * 60_000;
/** GitHub accepts one write a second. The rest follows in the next round, or is reconciled. */
const BATCH = 300;
/** A delivery that failed this often fails because of its content. */
const ATTEMPTS_MAX = 10;

/** Requests redelivery of failed deliveries; of several processes one at a time does so. */
export function startRedelivery(deps: RedeliverDeps, timing = REDELIVER_TIMING): Poller {
  const { database, clock, log } = deps;
  return poll({
    log,
    pollMs: timing.pollMs,
    round: async (stopping) => {
      const clients = deps.clients();
      if (!clients || !(await readAppSettings(database)).pull_request_stamping) return false;
      const lease = await takeTask(deps, "redeliver", timing.leaseMs);
      if (!lease) return false;
      const now = clock.now();
      const after = (ms: number) => new Date(now.getTime() + ms).toISOString();
      try {
        const missing = await missingDeliveries(database, clients.app, sinceMs(lease.row.doneAt, now));
        const left = await redeliver(deps, clients.app, { missing, stopping });
        const isDone = left === 0;
        await lease.finish(isDone ? { doneAt: after(0), nextAttemptAt: after(timing.everyMs) } : {});
      } catch (error) {
        const waitMs = waitMsOf(error, now) ?? RETRY_MS;
        const failure = failureClass(error);
        log.warn({ failure, status: statusOf(error), waitMs }, "failed deliveries could not be looked up");
        await lease.finish({ failure, nextAttemptAt: after(waitMs) });
      }
      return false;
    },
  });
}

function sinceMs(doneAt: string | null, now: Date): number {
  const earliestMs = now.getTime() - DAYS_MAX * 86_400_000;
  return doneAt === null ? earliestMs : Math.max(earliestMs, Date.parse(doneAt) - OVERLAP_MS);
}

/** Requests the redelivery of at most one batch. @returns how many are left. */
async function redeliver(
  { log, count }: RedeliverDeps,
  github: Github,
  { missing, stopping }: { missing: readonly number[]; stopping: () => boolean },
): Promise<number> {
  let requested = 0;
  for (const delivery_id of missing.slice(0, BATCH)) {
    if (stopping()) break;
    await github.rest.apps.redeliverWebhookDelivery({ delivery_id });
    count("redelivered", 1);
    requested++;
  }
  const left = missing.length - requested;
  if (requested > 0) log.info({ requested, left }, "failed deliveries are redelivered");
  return left;
}

/** GitHub's ids of deliveries that failed and of which no attempt reached the inbox; oldest first. */
async function missingDeliveries(database: Database, github: Github, since: number): Promise<number[]> {
  const events = await readEvents(github, since);
  const failed = [...events].filter(([, it]) => !it.succeeded && it.attempts < ATTEMPTS_MAX);
  const stored = await storedDeliveries(
    database,
    failed.map(([guid]) => guid),
  );
  const missing = failed.filter(([guid]) => !stored.has(guid)).map(([, { id }]) => id);
  return missing.sort((a, b) => a - b);
}

type Event = { id: number; attempts: number; succeeded: boolean };

/** The relevant events delivered since, by their delivery id, which all attempts share. */
async function readEvents(github: Github, since: number): Promise<Map<string, Event>> {
  const events = new Map<string, Event>();
  const pages = github.paginate.iterator(github.rest.apps.listWebhookDeliveries, { per_page: 100 });
  for await (const { data } of pages) {
    for (const it of data) {
      if (!isEventName(it.event)) continue;
      const known = events.get(it.guid) ?? { id: it.id, attempts: 0, succeeded: false };
      known.attempts++;
      known.succeeded ||= it.status_code >= 200 && it.status_code < 300;
      known.id = Math.min(known.id, it.id);
      events.set(it.guid, known);
    }
    const last = data.at(-1);
    if (last && Date.parse(last.delivered_at) < since) break;
  }
  return events;
}
