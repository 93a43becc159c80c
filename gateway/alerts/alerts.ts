import { sql } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { failureClass } from "#drizzle/leases/failure-class.ts";
import { runLeased } from "#drizzle/leases/lease.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import { ALERT_KINDS, type AlertKind } from "#shared/admin/alerts.ts";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import { sumPastSpend } from "../stores/past-spend.ts";
import type { Sealer } from "../stores/seal.ts";
import {
  type AlertFinding,
  type AlertRow,
  alertRows,
  enabledAlerts,
  forgetStates,
  noteOutcome,
  openReceiver,
  storeFindings,
  takeState,
} from "./alert-rows.ts";
import { type DeliverDeps, deliver } from "./deliver.ts";
import { FINDERS, type FinderDeps } from "./finders.ts";

export type AlertDeps = DeliverDeps &
  FinderDeps & { database: Database; sealer: Sealer; clock: Clock; log: Log };

const POLL_MS = 60_000;
/** Messages under way at once: a receiver that is dead does not delay the others' for long. */
const AT_ONCE = 4;

/** Finds and reports states until stopped. Any number of gateways may do so at once. */
export function startAlerts(deps: AlertDeps): Poller {
  const looked: Looked = {};
  const every = (work: () => Promise<void>) =>
    poll({ log: deps.log, pollMs: POLL_MS, round: () => work().then(() => false) });
  const alerts = every(() => doAlerts(deps, looked));
  // Of a budget whose gateway ended before it was done; it may take long, and no alert waits for it.
  const past = every(() => sumPastSpend(deps.database));
  return { wake: alerts.wake, stop: async () => void (await Promise.all([alerts.stop(), past.stop()])) };
}

/** When this process last looked for each kind, by the clock's monotonic time. */
type Looked = Partial<Record<AlertKind, number>>;

/** One round: stores what alerts are to report, by one gateway at a time, and sends it. */
export async function doAlerts(deps: AlertDeps, looked: Looked = {}): Promise<void> {
  const on = await enabledAlerts(deps.database.db);
  if (on.length === 0) return;
  await deps.database.db.transaction(async (tx) => {
    const [row] = await tx.execute<{ mine: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtext('alerts')) as mine`,
    );
    if (row?.mine) await detect(deps, tx, { on, looked });
  });
  await Promise.all(Array.from({ length: AT_ONCE }, () => sendAll(deps)));
}

type Looking = { on: readonly AlertRow[]; looked: Looked };

async function detect(deps: AlertDeps, tx: Transaction, { on, looked }: Looking): Promise<void> {
  const now = deps.clock.now();
  for (const kind of ALERT_KINDS) {
    const its = on.filter((alert) => alert.on.includes(kind));
    const { calmMs, everyMs = 0, find } = FINDERS[kind];
    const atMs = deps.clock.monotonicMs();
    if (its.length === 0 || atMs - (looked[kind] ?? Number.NEGATIVE_INFINITY) < everyMs) continue;
    looked[kind] = atMs;
    // What one kind cannot find stops none of the others.
    await tx
      .transaction(async (part) => {
        const findings: AlertFinding[] = await find(part, now, deps);
        for (const { name } of its) await storeFindings(part, name, { findings, now });
        await forgetStates(part, kind, new Date(now.getTime() - calmMs));
      })
      .catch((error) => deps.log.warn({ kind, ...errorFields(error) }, "alerts of a kind were not found"));
  }
}

async function sendAll(deps: AlertDeps): Promise<void> {
  while (await sendNext(deps));
}

async function sendNext(deps: AlertDeps): Promise<boolean> {
  const { database, sealer, clock, log } = deps;
  const lease = await takeState(deps);
  if (lease === null) return false;
  const { alert, deliveryId: id, content, attempts } = lease.row;
  const failed = await runLeased(lease, async () => {
    const at = clock.now();
    const row = await alertRows.find(database.db, alert);
    const receiver = row && openReceiver(sealer, row);
    if (!receiver) throw new Error("the receiver is missing, or cannot be opened");
    lease.assertHeld();
    await deliver(deps, receiver, { id, at, alert, content });
    return { sentAt: at.toISOString() };
  });
  if (failed === null) {
    await noteOutcome(database.db, alert, { lastSentAt: clock.now().toISOString(), failure: null });
    log.info({ alert, kind: content.kind }, "an alert was sent");
  } else {
    await noteOutcome(database.db, alert, { failure: failureClass(failed.error) });
    log.warn({ alert, attempts: attempts + 1, ...errorFields(failed.error) }, "an alert was not sent");
  }
  return true;
}
