import { S3Client } from "bun";
import { sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { type Lease, runLeased, takeLease } from "#drizzle/leases/lease.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import { ours } from "#drizzle/ours.ts";
import { exportDestinations } from "#drizzle/schema/exports.ts";
import type { Clock } from "#shared/clock.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { Spread } from "../reports/spread.ts";
import type { Sealer } from "../stores/seal.ts";
import type { OutboundFetch } from "../upstream/outbound-fetch.ts";
import { encoded } from "./encode.ts";
import { FOCUS_EXPORT } from "./focus-columns.ts";
import { focusRows, focusSpread, requireKept } from "./focus-rows.ts";

export type ExportDestinationRow = typeof exportDestinations.$inferSelect;
export type UploadDeps = { database: Database; sealer: Sealer; reach: OutboundFetch; clock: Clock; log: Log };

const DAY_MS = 86_400_000;
const POLL_MS = 60_000;
const LEASE_MS = 15 * 60_000;
const ANSWER_MS_MAX = 5 * 60_000;
/** Calls of a day may be priced, settled or stored later. */
const REVISED_DAYS = 5;

export const secretOf = ({ endpoint, bucket }: Pick<ExportDestinationRow, "endpoint" | "bucket">) =>
  ({ orgId: DEFAULT_ORG, destination: `${endpoint} ${bucket}`, purpose: "export" }) as const;

/**
 * Uploads the FOCUS rows of each day (UTC) that is over, until stopped; the days before it again, for their costs may have changed.
 * Any number of gateways may do so at once: what a day's upload has not finished, another one does.
 */
export const startUploadingDays = (deps: UploadDeps): Poller =>
  poll({ log: deps.log, pollMs: POLL_MS, round: () => uploadDay(deps) });

/** Uploads the next day that is over. @returns whether there was one. */
export async function uploadDay(deps: UploadDeps): Promise<boolean> {
  const today = new Date(Math.floor(deps.clock.now().getTime() / DAY_MS) * DAY_MS).toISOString();
  const isOver = sql`${exportDestinations.doneUntil} < ${today}::timestamptz`;
  const where = ours(exportDestinations, { enabled: true }, isOver);
  const lease = await takeLease(deps, exportDestinations, { where, leaseMs: LEASE_MS });
  if (lease === null) return false;
  const failed = await runLeased(lease, () => uploaded(deps, lease, Date.parse(today)));
  if (failed !== null) deps.log.warn(errorFields(failed.error), "the day's export was not uploaded");
  return failed === null;
}

async function uploaded(deps: UploadDeps, { row, assertHeld }: Lease<ExportDestinationRow>, todayMs: number) {
  const dayMs = Date.parse(row.doneUntil);
  const isLatest = dayMs + DAY_MS >= todayMs;
  const days = isLatest ? REVISED_DAYS : 0;
  const spread = await focusSpread(deps.database, { fromMs: dayMs - days * DAY_MS, toMs: dayMs + DAY_MS });
  for (let back = days; back >= 0; back -= 1) {
    assertHeld();
    await putDay(deps, row, { fromMs: dayMs - back * DAY_MS, spread });
  }
  return { doneUntil: new Date(dayMs + DAY_MS).toISOString() };
}

type Day = { fromMs: number; spread: Spread };

async function putDay(deps: UploadDeps, row: ExportDestinationRow, { fromMs, spread }: Day): Promise<void> {
  const span = { fromMs, toMs: fromMs + DAY_MS };
  await requireKept(deps.database, span, "day");
  const file = { columns: FOCUS_EXPORT, rows: focusRows(deps.database, span, spread) };
  const body = Buffer.concat(await Array.fromAsync(encoded(file, row.format)));
  const url = signedAddress(deps.sealer, row, new Date(fromMs).toISOString().slice(0, 10));
  const response = await deps.reach(
    { url, allowPrivateNetwork: row.allowPrivateNetwork },
    { method: "PUT", headers: {}, body, signal: AbortSignal.timeout(ANSWER_MS_MAX) },
  );
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the storage answered ${response.status}`);
}

/** Bun signs; the call itself keeps the rules for outbound addresses. */
function signedAddress(sealer: Sealer, row: ExportDestinationRow, day: string): string {
  const secretAccessKey = sealer.open(row.secret, secretOf(row))?.reveal();
  if (secretAccessKey === undefined) throw new Error("the secret was sealed with another master key");
  const { endpoint, bucket, region, accessKeyId } = row;
  const client = new S3Client({ endpoint, bucket, region, accessKeyId, secretAccessKey });
  return client.presign(`${row.prefix}focus-${day}.${row.format}`, { method: "PUT", expiresIn: 3600 });
}
