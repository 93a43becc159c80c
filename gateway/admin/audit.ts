import { AUDITED } from "#drizzle/schema/audit.ts";
import { AuditValues, AuditView } from "#shared/admin/audit.ts";
import { pageOf } from "#shared/admin/fields.ts";
import { viewAs } from "#shared/view-as.ts";
import { noteExport } from "../identity/authorize.ts";
import { type AuditFilter, type AuditRow, auditValues, listAudit } from "../stores/audit.ts";
import { type AdminDeps, adminPart, readDatabase } from "./deps.ts";
import { adminRoute, LIST_QUERY } from "./documented.ts";
import { idCursor, type ListQuery, pageFrom, readListQuery, readWindow, requireKnown } from "./list.ts";

const docs = adminRoute("audit");
const NAMES = ["actor", "action", "subject", "from", "to", "format"] as const;
type Name = (typeof NAMES)[number];

/** `/admin/v1/audit`: every administrative change, and who read captured bodies. Newest first. */
export const adminAudit = (deps: AdminDeps) =>
  adminPart(deps, "audit")
    .get(
      "/values",
      (): Promise<AuditValues> => readDatabase(deps, auditValues),
      docs({
        summary: "List who, what and which subjects the audit log has entries of",
        answers: { 200: AuditValues },
      }),
    )
    .get(
      "",
      async ({ request, viewer }) => {
        const query = readListQuery(request, NAMES);
        const { limit, after, given } = query;
        requireKnown(given, { action: AUDITED, format: ["json", "ndjson"] });
        const filter = filterOf(query);
        const cursor = after && idCursor(after);
        if (given.format === "ndjson") {
          await noteExport({ ...deps, request, actor: viewer.actor }, "audit");
          return streamed(deps, filter, cursor);
        }
        const slice = { after: cursor, limit: limit + 1 };
        const rows = await readDatabase(deps, (db) => listAudit(db, filter, slice));
        return pageFrom(rows, limit, { view: viewOf, cursor: (row) => row.id });
      },
      docs({
        summary: "List administrative changes, newest first",
        description:
          "`before` and `after` are the thing as the API shows it; credentials appear as their last four characters. Entries are kept for 400 days.",
        query: {
          ...LIST_QUERY,
          actor:
            "Who made the change: a person's e-mail, a token's name, `admin key`, `first start` or `environment`.",
          action: `One of ${AUDITED.join(", ")}.`,
          subject: "Name or id of what was changed.",
          from: "RFC 3339 date-time, or a date: changes from then on.",
          to: "RFC 3339 date-time, or a date, which is included: changes before then.",
          format: "`ndjson` streams every entry that matches, one JSON object a line, without pages.",
        },
        answers: { 200: pageOf(AuditView) },
      }),
    );

function filterOf({ given }: ListQuery<Name>): AuditFilter {
  const { actor = null, subject = null } = given;
  const action = AUDITED.find((known) => known === given.action) ?? null;
  return { actor, action, subject, ...readWindow(given.from, given.to) };
}

const viewOf = (row: AuditRow): AuditView => viewAs(AuditView, row);

const BATCH = 500;

/** Every entry that matches, read in batches as the client takes them. */
function streamed(deps: AdminDeps, filter: AuditFilter, from: string | null): Response {
  let after = from;
  const encoder = new TextEncoder();
  const lines = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const slice = { after, limit: BATCH };
      const rows = await readDatabase(deps, (db) => listAudit(db, filter, slice));
      const text = rows.map((row) => `${JSON.stringify(viewOf(row))}\n`).join("");
      if (text !== "") controller.enqueue(encoder.encode(text));
      after = rows.at(-1)?.id ?? after;
      if (rows.length < BATCH) controller.close();
    },
  });
  return new Response(lines, { headers: { "content-type": "application/x-ndjson" } });
}
