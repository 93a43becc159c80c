import type { Transaction } from "#drizzle/database.ts";
import { first, ours } from "#drizzle/ours.ts";
import { exportDestinations } from "#drizzle/schema/exports.ts";
import {
  ExportDestinationBody as Body,
  type ExportDestinationBody,
  ExportDestinationView,
} from "#shared/admin/exports.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { viewAs } from "#shared/view-as.ts";
import { orNotFound, refuse } from "../errors.ts";
import { type ExportDestinationRow, secretOf, uploadDay } from "../export/upload-days.ts";
import { readJson } from "../plugins/body.ts";
import type { Origin } from "../stores/audit.ts";
import { audited, type Reader } from "../stores/change.ts";
import { type AdminDeps, adminPart, readDatabase } from "./deps.ts";
import { adminRoute, noContent } from "./documented.ts";

const docs = adminRoute("export");
const isOwn = ours(exportDestinations);

const find = (reader: Reader): Promise<ExportDestinationRow | null> =>
  first(reader.select().from(exportDestinations).where(isOwn));
const viewOf = (row: ExportDestinationRow) => viewAs(ExportDestinationView, row);

/** `/admin/v1/export/destination`: the bucket that gets each day's FOCUS rows. */
export const adminExportDestination = (deps: AdminDeps) =>
  adminPart(deps, "export/destination")
    .get("", async () => viewOf(orNotFound(await readDatabase(deps, find))), {
      ...docs({
        summary: "Read where each day's FOCUS rows are uploaded",
        answers: { 200: ExportDestinationView },
      }),
    })
    .put(
      "",
      async ({ request, origin }) => put(deps, origin, await readJson(deps, request, Body)),
      docs({
        summary: "Upload each day's FOCUS rows to S3-compatible storage",
        description:
          "One object a day, `<prefix>focus-2026-11-20.parquet`, once the day (UTC) is over; the five days before are written again, because costs may have changed.",
        body: Body,
        answers: { 200: ExportDestinationView },
      }),
    )
    .post(
      "/run",
      async () => {
        await deps.database.db.update(exportDestinations).set({ nextAttemptAt: null }).where(isOwn);
        orNotFound(await readDatabase(deps, find));
        await uploadDay(deps);
        return viewOf(orNotFound(await readDatabase(deps, find)));
      },
      docs({
        summary: "Upload the next day that is due now",
        description: "`done_until` has moved, or `failure` says why not.",
        answers: { 200: ExportDestinationView },
      }),
    )
    .delete(
      "",
      async ({ origin }) => {
        await audited(deps.database, origin, async (tx, audit) => {
          const [gone] = await tx.delete(exportDestinations).where(isOwn).returning();
          const before = viewOf(orNotFound(gone));
          await audit({ action: "export_destination.deleted", subject: before.bucket, before });
        });
        return noContent();
      },
      docs({ summary: "Stop uploading; what was uploaded stays", answers: { 204: null } }),
    );

async function put(deps: AdminDeps, origin: Origin, body: ExportDestinationBody) {
  const { endpoint, allow_private_network: allowPrivateNetwork = false } = body;
  const fault = await deps.addressGuard.saveFault(endpoint, allowPrivateNetwork);
  if (fault !== null) refuse(`/endpoint: ${fault}.`);
  return audited(deps.database, origin, async (tx, audit) => {
    const current = await find(tx);
    const row = rowOf(deps, { body, current, now: deps.clock.now() });
    await store(tx, row);
    const before = current && { before: viewOf(current) };
    await audit({ action: "export_destination.set", subject: row.bucket, ...before, after: viewOf(row) });
    return viewOf(row);
  });
}

const store = (tx: Transaction, row: ExportDestinationRow) =>
  tx
    .insert(exportDestinations)
    .values(row)
    .onConflictDoUpdate({ target: exportDestinations.orgId, set: row });

type Edit = { body: ExportDestinationBody; current: ExportDestinationRow | null; now: Date };

function rowOf({ sealer }: AdminDeps, { body, current, now }: Edit): ExportDestinationRow {
  const { endpoint, bucket, secret_access_key: given } = body;
  const stays = current?.endpoint === endpoint && current.bucket === bucket ? current : null;
  const secret = given === undefined ? stays?.secret : sealer.seal(given, secretOf({ endpoint, bucket }));
  if (secret === undefined) refuse("/secret_access_key: A new bucket needs it.");
  const first = body.from ?? `${now.toISOString().slice(0, 7)}-01`;
  return {
    orgId: DEFAULT_ORG,
    endpoint,
    bucket,
    secret,
    accessKeyId: body.access_key_id,
    allowPrivateNetwork: body.allow_private_network ?? false,
    region: body.region ?? "us-east-1",
    prefix: body.prefix ?? "",
    format: body.format ?? "parquet",
    enabled: body.enabled ?? true,
    doneUntil: body.from || !stays ? `${first}T00:00:00.000Z` : stays.doneUntil,
    // Whatever failed is tried again with what is new.
    leasedUntil: current?.leasedUntil ?? null,
    attempts: 0,
    nextAttemptAt: null,
    failure: null,
    updatedAt: now.toISOString(),
  };
}
