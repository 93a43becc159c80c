import type { TSchema } from "@sinclair/typebox";
import { RequestView as View } from "#shared/admin/records.ts";
import { keysOf } from "#shared/keys-of.ts";
import { refuse } from "../errors.ts";
import { EXPORT_TYPES, type Export, exportStream } from "../export/encode.ts";
import { type ExportColumn, FOCUS_EXPORT } from "../export/focus-columns.ts";
import { focusRows, requireKept } from "../export/focus-rows.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../export/formats.ts";
import { recordScope } from "../identity/scope.ts";
import { audited } from "../stores/change.ts";
import { listRequests, type RequestQuery } from "../stores/requests.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import { type AdminDeps, adminPart, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { readWindow, requireKnown } from "./list.ts";
import { RECORD_QUERY, readRecordQuery, viewOf } from "./requests.ts";

const docs = adminRoute("export");
const DATA = ["records", "focus"] as const;
/** Of the first rows: FOCUS rows need all calls of a commitment. */
const FIRST_MAX_MS = 180_000;

/** `/admin/v1/export`: everything that there is, as one file that is made while it is read. */
export const adminExport = (deps: AdminDeps) =>
  adminPart(deps, "export").get(
    "",
    async ({ request, viewer, origin }) => {
      const { data, format, rest } = readExport(request);
      await awaitSettled(deps);
      const file =
        data === "focus"
          ? await focusOf(deps, rest)
          : recordsOf(deps, readRecordQuery(rest), recordScope(viewer));
      const body = await withStoreErrors(() => exportStream(file, format), FIRST_MAX_MS);
      await audited(deps.database, origin, (_, audit) => audit({ action: "data.exported", subject: data }));
      const day = deps.clock.now().toISOString().slice(0, 10);
      return new Response(body, {
        headers: {
          "content-type": EXPORT_TYPES[format],
          "content-disposition": `attachment; filename="${data}-${day}.${format}"`,
        },
      });
    },
    docs({
      summary: "Export records, or FOCUS cost and usage rows, as one file",
      description:
        "Streams NDJSON, CSV or Parquet, however long. `records`: the records of `GET /admin/v1/requests`, newest first, with its filters. `focus`: rows of FOCUS 1.4 (Cost and Usage) by day, of calls of known cost outside the subscription lane; it takes `from` and `to` alone, default the month so far.",
      query: {
        data: "`records` (default) or `focus`.",
        format: "`ndjson` (default), `csv` or `parquet`.",
        ...RECORD_QUERY,
      },
      answers: { 200: null },
    }),
  );

function readExport(request: Request): {
  data: (typeof DATA)[number];
  format: ExportFormat;
  rest: { url: string };
} {
  const url = new URL(request.url);
  const take = (name: string, among: readonly string[]) => {
    const [given, ...others] = url.searchParams.getAll(name);
    if (others.length > 0) refuse(`${name}: Given twice.`);
    requireKnown({ [name]: given }, { [name]: among });
    url.searchParams.delete(name);
    return given;
  };
  const [data, format] = [take("data", DATA), take("format", EXPORT_FORMATS)];
  return {
    data: DATA.find((known) => known === data) ?? "records",
    format: EXPORT_FORMATS.find((known) => known === format) ?? "ndjson",
    rest: { url: url.href },
  };
}

async function focusOf(deps: AdminDeps, { url }: { url: string }): Promise<Export> {
  const given = new URL(url).searchParams;
  const other = [...given.keys()].find((name) => name !== "from" && name !== "to");
  if (other !== undefined) refuse(`${other}: FOCUS takes data, format, from and to alone.`);
  const { from, to } = readWindow(given.get("from") ?? undefined, given.get("to") ?? undefined);
  const now = deps.clock.now();
  const span = {
    fromMs: from === null ? Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) : Date.parse(from),
    toMs: to === null ? now.getTime() : Date.parse(to),
  };
  await readDatabase(deps, () => requireKept(deps.database, span));
  return { columns: FOCUS_EXPORT, rows: focusRows(deps.database, span) };
}

const PAGE = 500;

function recordsOf(deps: AdminDeps, query: Omit<RequestQuery, "scope">, scope: RequestQuery["scope"]) {
  async function* rows() {
    for (let { after } = query; ; ) {
      const page = await listRequests(deps.database.db, { ...query, scope, after, limit: PAGE });
      if (page.length > 0) yield page.map(viewOf);
      after = page.at(-1)?.id ?? null;
      if (page.length < PAGE) return;
    }
  }
  return { columns: RECORD_COLUMNS, rows: rows() };
}

/** Columns of records, by the types of their schema. Unknown members of any row are null. */
const RECORD_COLUMNS = keysOf(View.properties).map((name): ExportColumn => {
  const { anyOf, type } = View.properties[name] as TSchema;
  const own: string = type ?? anyOf?.find((it: TSchema) => it["type"] !== "null")?.type ?? "string";
  const written = { integer: "integer", number: "integer", boolean: "boolean", array: "json" } as const;
  const text = name.endsWith("_usd") ? "decimal" : name.endsWith("_at") ? "datetime" : "string";
  return {
    name,
    type: own in written ? written[own as keyof typeof written] : text,
    nullable: type === undefined,
  };
});
