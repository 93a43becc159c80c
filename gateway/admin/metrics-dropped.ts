import { pageOf } from "#shared/admin/fields.ts";
import { DroppedNameView } from "#shared/admin/metrics.ts";
import { listDroppedNames } from "../stores/dropped-names.ts";
import { type AdminDeps, adminPart, readDatabase } from "./deps.ts";
import { adminRoute, LIST_QUERY } from "./documented.ts";
import { keyFilter, pageFrom, readListQuery } from "./list.ts";
import { idCursor } from "./parameters.ts";

const docs = adminRoute("records");

/** `/admin/v1/metrics-dropped`: what the metrics receiver was sent and does not store, by name. */
export const adminMetricsDropped = (deps: AdminDeps) =>
  adminPart(deps, "metrics-dropped").get(
    "",
    async ({ request }) => {
      const { limit, after, given } = readListQuery(request, ["key", "kind"]);
      const query = {
        limit: limit + 1,
        after: after && idCursor(after),
        key: keyFilter(given.key),
        kind: given.kind ?? null,
      };
      const rows = await readDatabase(deps, (db) => listDroppedNames(db, query));
      return pageFrom(rows, limit, { view: (row): DroppedNameView => row, cursor: (row) => row.id });
    },
    docs({
      summary: "List names of metrics and attributes that were not stored, newest first",
      description: "Keeps at most 1,000 names per key and day.",
      query: { ...LIST_QUERY, key: "A key's id or name.", kind: "`attribute` or `metric`." },
      answers: { 200: pageOf(DroppedNameView) },
    }),
  );
