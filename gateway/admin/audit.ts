import { Elysia } from "elysia";
import { AuditView } from "#shared/admin/bodies.ts";
import { pageOf } from "#shared/admin/fields.ts";
import { adminKey } from "../plugins/admin-key.ts";
import { type AuditRow, listAudit } from "../stores/audit.ts";
import { type AdminDeps, read } from "./deps.ts";
import { documented, LIST_QUERY } from "./documented.ts";
import { page, readListQuery } from "./list.ts";
import { requireCursor } from "./names.ts";

const docs = documented("audit");

/** `/admin/v1/audit`: who read what was captured, and who switched capture on or off. Newest first. */
export const adminAudit = (deps: AdminDeps) =>
  new Elysia({ name: "admin.audit", prefix: "/audit" }).use(adminKey(deps.isAdmin)).get(
    "",
    async ({ request }) => {
      const { limit, after } = readListQuery(request, []);
      const cursor = after && requireCursor(after);
      const rows = await read(deps, (db) => listAudit(db, { after: cursor, limit: limit + 1 }));
      return page(rows, limit, { view: viewOf, cursor: (row) => row.id });
    },
    docs({
      summary: "List the audit, newest first",
      query: LIST_QUERY,
      answers: { 200: pageOf(AuditView) },
    }),
  );

const viewOf = ({ id, at, actor, action, subject }: AuditRow): AuditView => ({
  id,
  at,
  actor,
  action,
  subject,
});
