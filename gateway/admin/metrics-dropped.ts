import { Elysia } from "elysia";
import { pageOf } from "#shared/admin/fields.ts";
import { DroppedNameView } from "#shared/admin/metrics.ts";
import { isId } from "#shared/ids.ts";
import { adminKey } from "../plugins/admin-key.ts";
import { listDroppedNames } from "../stores/dropped-names.ts";
import { type AdminDeps, read } from "./deps.ts";
import { documented, LIST_QUERY } from "./documented.ts";
import { page, readListQuery } from "./list.ts";
import { requireCursor } from "./names.ts";

const docs = documented("records");

/** `/admin/v1/metrics-dropped`: what the metrics receiver was sent and does not store, by name. */
export const adminMetricsDropped = (deps: AdminDeps) =>
  new Elysia({ name: "admin.metrics-dropped", prefix: "/metrics-dropped" }).use(adminKey(deps.isAdmin)).get(
    "",
    async ({ request }) => {
      const { limit, after, given } = readListQuery(request, ["key", "kind"]);
      const query = {
        limit: limit + 1,
        after: after && requireCursor(after),
        key: given.key === undefined ? null : isId(given.key) ? { id: given.key } : { name: given.key },
        kind: given.kind ?? null,
      };
      const rows = await read(deps, (db) => listDroppedNames(db, query));
      return page(rows, limit, { view: (row): DroppedNameView => row, cursor: (row) => row.id });
    },
    docs({
      summary: "List names of metrics and attributes that the receiver dropped, newest first",
      description: "At most 1,000 names are kept for a key and day.",
      query: { ...LIST_QUERY, key: "A key's id or name.", kind: "`attribute` or `metric`." },
      answers: { 200: pageOf(DroppedNameView) },
    }),
  );
