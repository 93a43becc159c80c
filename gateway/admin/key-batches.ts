import { Elysia } from "elysia";
import { BatchView, type BatchView as View } from "#shared/admin/batches.ts";
import { pageOf } from "#shared/admin/fields.ts";
import { GatewayError } from "../errors.ts";
import { adminKey } from "../plugins/admin-key.ts";
import { type BatchRow, listKeyBatches } from "../stores/batches.ts";
import { findKey } from "../stores/keys.ts";
import { type AdminDeps, read } from "./deps.ts";
import { documented, LIST_QUERY } from "./documented.ts";
import { page, readListQuery } from "./list.ts";
import { requireCursor, requireId } from "./names.ts";

const docs = documented("keys");

/** `/admin/v1/keys/{id}/batches`: the batch view of a key. */
export const adminKeyBatches = (deps: AdminDeps) =>
  new Elysia({ name: "admin.key-batches" }).use(adminKey(deps.isAdmin)).get(
    "/keys/:id/batches",
    async ({ request, params }) => {
      const { limit, after } = readListQuery(request, []);
      const id = requireId(params.id);
      const slice = { after: after && requireCursor(after), limit: limit + 1 };
      const rows = await read(deps, async (db) => {
        if (!(await findKey(db, id, deps.clock.now()))) throw new GatewayError("not_found");
        return listKeyBatches(db, id, slice);
      });
      return page(rows, limit, { view: viewOf, cursor: (row) => row.recordId });
    },
    docs({
      summary: "List a key's batches, newest first, and what they cost",
      query: LIST_QUERY,
      answers: { 200: pageOf(BatchView) },
    }),
  );

const viewOf = (row: BatchRow): View => ({
  id: row.id,
  kind: row.kind,
  provider: row.provider,
  endpoint: row.endpoint,
  status: row.status,
  requests: row.requestsTotal,
  routes: row.routes,
  models: row.models,
  session: row.session,
  created_at: row.startedAt,
  reconciled_at: row.reconciledAt,
  cost_usd: row.costUsd,
  floor: row.partial,
  basis: "interactive_rates",
  request_id: row.recordId,
});
