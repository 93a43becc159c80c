import { lt, sql } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { type Lease, type LeaseDeps, takeLease } from "#drizzle/leases/lease.ts";
import { ours } from "#drizzle/ours.ts";
import { type AlertContent, alertStates, alerts } from "#drizzle/schema/alerts.ts";
import type { Receiver } from "#shared/admin/alerts.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { isRecord, parsedJson } from "#shared/json.ts";
import { Secret } from "../directory.ts";
import type { Reader } from "../stores/change.ts";
import { namedRows } from "../stores/rows.ts";
import { lastFour, type SealContext, type Sealer } from "../stores/seal.ts";

export type AlertRow = typeof alerts.$inferSelect;
type StateRow = typeof alertStates.$inferSelect;

const rows = namedRows(alerts);

/** A removed alert forgets what it has reported. */
export const alertRows = {
  ...rows,
  remove: async (tx: Transaction, name: string): Promise<AlertRow | null> => {
    await tx.delete(alertStates).where(ours(alertStates, { alert: name }));
    return rows.remove(tx, name);
  },
};

const belonging = (alert: string): SealContext => ({ orgId: DEFAULT_ORG, alert, purpose: "alert" });

/** A receiver as it is stored: what may be shown of it, and the rest under seal. */
export const storedReceiver = (sealer: Sealer, name: string, { url, secret, ...to }: Receiver) => ({
  to: {
    ...to,
    url: lastFour(new Secret(url)) ?? "",
    ...(secret !== undefined && { secret: lastFour(new Secret(secret)) ?? "" }),
  },
  sealed: sealer.seal(JSON.stringify({ url, secret }), belonging(name)),
});

/** The whole receiver; null: it was sealed with another master key. */
export function openReceiver(sealer: Sealer, { name, to, sealed }: AlertRow): Receiver | null {
  const opened = parsedJson(sealer.open(sealed, belonging(name))?.reveal() ?? "");
  return isRecord(opened) ? { ...to, ...opened } : null;
}

export const enabledAlerts = async (reader: Reader): Promise<AlertRow[]> =>
  (await rows.all(reader)).filter(({ enabled }) => enabled);

/** Something that is so now. One that is `passed` is no longer worth a message, and is not raised later either. */
export type AlertFinding = AlertContent & { state: string; passed?: boolean };

/** Raises what is new; what was found before was seen again. */
export async function storeFindings(
  tx: Transaction,
  alert: string,
  { findings, now }: { findings: readonly AlertFinding[]; now: Date },
): Promise<void> {
  const at = now.toISOString();
  if (findings.length === 0) return;
  const found = findings.map(({ state, passed = false, ...content }) => ({
    alert,
    state,
    deliveryId: Bun.randomUUIDv7(),
    content,
    raisedAt: at,
    seenAt: at,
    sentAt: passed ? at : null,
  }));
  await tx
    .insert(alertStates)
    .values(found)
    .onConflictDoUpdate({
      target: [alertStates.orgId, alertStates.alert, alertStates.state],
      set: { seenAt: at },
    });
}

/** Forgets states of a kind that are over: were they so again, they would be reported again. */
export function forgetStates(tx: Transaction, kind: string, seenBefore: Date): Promise<unknown> {
  const isOver = lt(alertStates.seenAt, seenBefore.toISOString());
  const isOfKind = sql`${alertStates.content} ->> 'kind' = ${kind}`;
  return tx.delete(alertStates).where(ours(alertStates, {}, isOver, isOfKind));
}

/** Longer than a message takes at most, so that no other gateway sends it in the meantime. */
const LEASE_MS = 120_000;
/** Afterwards a message says nothing new. */
const GIVEN_UP_DAYS = 3;

/** Leases a state that waits to be reported by an alert that is on; null: none is due. */
export const takeState = (deps: LeaseDeps): Promise<Lease<StateRow> | null> =>
  takeLease(deps, alertStates, {
    where: ours(
      alertStates,
      { sentAt: null },
      sql`${alertStates.raisedAt} > ${deps.clock.now().toISOString()}::timestamptz - make_interval(days => ${GIVEN_UP_DAYS})`,
      sql`exists (select from ${alerts} where ${alerts.orgId} = ${DEFAULT_ORG}
        and ${alerts.name} = ${alertStates.alert} and ${alerts.enabled})`,
    ),
    leaseMs: LEASE_MS,
  });

/** Notes how an attempt ended. */
export const noteOutcome = (
  db: Pick<Transaction, "update">,
  name: string,
  outcome: { lastSentAt: string; failure: null } | { failure: string },
): Promise<unknown> => db.update(alerts).set(outcome).where(ours(alerts, { name }));
