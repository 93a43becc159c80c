import { Elysia } from "elysia";
import { BatchView } from "#shared/admin/batches.ts";
import { pageOf } from "#shared/admin/fields.ts";
import { GatewayError } from "../errors.ts";
import { access } from "../identity/access.ts";
import { type BatchRow, listKeyBatches } from "../stores/batches.ts";
import { findKey } from "../stores/keys.ts";
import { isCeiling } from "./cost-explanation.ts";
import { type AdminDeps, readDatabase } from "./deps.ts";
import { adminRoute, LIST_QUERY } from "./documented.ts";
import { pageFrom, readListQuery } from "./list.ts";
import { idCursor, idParameter } from "./parameters.ts";
import { viewAs } from "./view-as.ts";

const docs = adminRoute("keys");

/** `/admin/v1/keys/{id}/batches`: the batch view of a key. */
export const adminKeyBatches = (deps: AdminDeps) =>
  new Elysia({ name: "admin.key-batches" }).use(access(deps)).get(
    "/keys/:id/batches",
    async ({ request, params }) => {
      const { limit, after } = readListQuery(request, []);
      const id = idParameter(params.id);
      const slice = { after: after && idCursor(after), limit: limit + 1 };
      const rows = await readDatabase(deps, async (db) => {
        if (!(await findKey(db, id, deps.clock.now()))) throw new GatewayError("not_found");
        return listKeyBatches(db, id, slice);
      });
      return pageFrom(rows, limit, { view: viewOf, cursor: (row) => row.recordId });
    },
    docs({
      summary: "List a key's batches and their cost, newest first",
      query: LIST_QUERY,
      answers: { 200: pageOf(BatchView) },
    }),
  );

const viewOf = (row: BatchRow): BatchView =>
  viewAs(BatchView, {
    ...row,
    requests: row.requestsTotal,
    createdAt: row.startedAt,
    floor: row.partial,
    basis: row.costBasis === "batch" ? "batch_rates" : "interactive_rates",
    ceiling: isCeiling(row),
    requestId: row.recordId,
  });
