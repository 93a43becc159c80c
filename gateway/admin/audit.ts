import { Elysia } from "elysia";
import { AuditView } from "#shared/admin/bodies.ts";
import { pageOf } from "#shared/admin/fields.ts";
import { adminKey } from "../plugins/admin-key.ts";
import { listAudit } from "../stores/audit.ts";
import { type AdminDeps, readDatabase } from "./deps.ts";
import { adminRoute, LIST_QUERY } from "./documented.ts";
import { pageFrom, readListQuery } from "./list.ts";
import { idCursor } from "./parameters.ts";
import { viewAs } from "./view-as.ts";

const docs = adminRoute("audit");

/** `/admin/v1/audit`: who read captured bodies, and who switched capture on or off. Newest first. */
export const adminAudit = (deps: AdminDeps) =>
  new Elysia({ name: "admin.audit", prefix: "/audit" }).use(adminKey(deps.isAdmin)).get(
    "",
    async ({ request }) => {
      const { limit, after } = readListQuery(request, []);
      const cursor = after && idCursor(after);
      const rows = await readDatabase(deps, (db) => listAudit(db, { after: cursor, limit: limit + 1 }));
      return pageFrom(rows, limit, { view: (row) => viewAs(AuditView, row), cursor: (row) => row.id });
    },
    docs({
      summary: "List the audit, newest first",
      query: LIST_QUERY,
      answers: { 200: pageOf(AuditView) },
    }),
  );
