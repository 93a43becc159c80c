import type { Database } from "#drizzle/database.ts";
import { failureClass } from "#drizzle/leases/failure-class.ts";
import { takeRowLease, whileHeld } from "#drizzle/leases/lease.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import { githubTasks } from "#drizzle/schema/github-app.ts";
import type { Ambient } from "#shared/clock.ts";
import type { Clients } from "../github/clients.ts";
import { type FailedDelivery, listFailedDeliveries } from "../github/deliveries.ts";
import type { Github } from "../github/octokit.ts";
import { statusOf, waitMsOf } from "../github/wait.ts";
import { deliveriesIn, noteRefusedRedelivery } from "../stores/inbox-store.ts";
import { readAppSettings } from "../stores/settings-store.ts";

export type RedeliverDeps = Ambient & {
  database: Database;
  /** Null while the App has no identity on GitHub. */
  clients: () => Clients | null;
  count: (of: "redelivered", by: number) => void;
};

export const REDELIVER_TIMING = {
  pollMs: 15_000,
  /** Between reads of GitHub's list of deliveries. */
  everyMs: 10 * 60_000,
  /** After a process died during it, the others wait this long. */
  leaseMs: 30_000,
};

const RETRY_MS = 60_000;
const DAY_MS = 86_400_000;
/** GitHub redelivers for three days (an Enterprise Server for seven); what is older is reconciled. */
const DAYS_MAX = 3;
/** GitHub lists deliveries for 30 days. */
const REMEMBERED_DAYS = 30;
const OVERLAP_MS = 15 * 60_000;
/** GitHub accepts one write a second. The rest follows in the next round, or is reconciled. */
const BATCH = 300;
/** After this many failures, GitHub counts as away; the rest follows later. */
const FAILURES_MAX = 5;
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
      const lease = await takeRowLease(deps, githubTasks, {
        row: { name: "redeliver" },
        leaseMs: timing.leaseMs,
      });
      if (!lease) return false;
      const now = clock.now();
      const after = (ms: number) => new Date(clock.now().getTime() + ms).toISOString();
      try {
        const { left, waitMs } = await whileHeld(lease, timing.leaseMs, async (isHeld) => {
          const missing = await missingDeliveries(database, clients.app, sinceMs(lease.row.doneAt, now));
          const mustEnd = () => stopping() || !isHeld();
          return await redeliver(deps, clients.app, { missing, mustEnd });
        });
        const isDone = left === 0;
        const nextMs = isDone ? timing.everyMs : waitMs;
        await lease.finish({
          ...(isDone && { doneAt: now.toISOString() }),
          nextAttemptAt: nextMs === null ? null : after(nextMs),
        });
      } catch (error) {
        const waitMs = waitMsOf(error, clock.now()) ?? RETRY_MS;
        const failure = failureClass(error);
        log.warn({ failure, status: statusOf(error), waitMs }, "failed deliveries could not be looked up");
        await lease.finish({ failure, nextAttemptAt: after(waitMs) });
      }
      return false;
    },
  });
}

function sinceMs(doneAt: string | null, now: Date): number {
  const earliestMs = now.getTime() - DAYS_MAX * DAY_MS;
  return doneAt === null ? earliestMs : Math.max(earliestMs, Date.parse(doneAt) - OVERLAP_MS);
}

type Redelivered = {
  /** Deliveries that are still to be requested. */
  left: number;
  /** How long GitHub asks to wait before the next request; null: it does not. */
  waitMs: number | null;
};

/** Requests the redelivery of at most one batch. Each is settled by itself: a refusal of one stops no other. */
async function redeliver(
  deps: RedeliverDeps,
  github: Github,
  { missing, mustEnd }: { missing: readonly FailedDelivery[]; mustEnd: () => boolean },
): Promise<Redelivered> {
  const outcomes = { requested: 0, refused: 0, failed: 0 };
  let waitMs: number | null = null;
  for (const delivery of missing.slice(0, BATCH)) {
    if (mustEnd()) break;
    const outcome = await redeliverOne(deps, github, delivery);
    if (typeof outcome === "number") {
      waitMs = outcome;
      break;
    }
    outcomes[outcome]++;
    if (outcomes.failed === FAILURES_MAX) break;
  }
  const { requested, refused, failed } = outcomes;
  const left = missing.length - requested - refused;
  if (missing.length > 0) deps.log.info({ ...outcomes, left, waitMs }, "failed deliveries are redelivered");
  return { left, waitMs: waitMs ?? (failed > 0 ? RETRY_MS : null) };
}

/** Requests a redelivery. `refused`: never again; `failed`: maybe later; a number: GitHub's wait in milliseconds. */
async function redeliverOne(
  { database, clock, log, count }: RedeliverDeps,
  github: Github,
  { id, deliveryId }: FailedDelivery,
): Promise<"requested" | "refused" | "failed" | number> {
  try {
    await github.rest.apps.redeliverWebhookDelivery({ delivery_id: id, request: { retries: 0 } });
    count("redelivered", 1);
    return "requested";
  } catch (error) {
    const now = clock.now();
    const waitMs = waitMsOf(error, now);
    if (waitMs !== null) return waitMs;
    const status = statusOf(error);
    if (status === null || status >= 500 || status === 401) return "failed";
    log.warn({ deliveryId, status }, "GitHub refuses to send a delivery again");
    const forgetBefore = new Date(now.getTime() - REMEMBERED_DAYS * DAY_MS);
    await noteRefusedRedelivery(database, { deliveryId, status }, { now, forgetBefore });
    return "refused";
  }
}

/** Failed deliveries that never reached the inbox and that GitHub may resend; oldest first. */
async function missingDeliveries(database: Database, github: Github, since: number) {
  const failed = await listFailedDeliveries(github, since);
  const ids = failed.map(({ deliveryId }) => deliveryId);
  const stored = await deliveriesIn("webhook_inbox", database, ids);
  const refused = await deliveriesIn("refused_redeliveries", database, ids);
  return failed.filter(
    ({ deliveryId, attempts, at }) =>
      attempts < ATTEMPTS_MAX && at >= since && !stored.has(deliveryId) && !refused.has(deliveryId),
  );
}
