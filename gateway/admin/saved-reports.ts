import { Name, type Page, pageOf } from "#shared/admin/fields.ts";
import {
  SavedReportPatch as Patch,
  SavedReportBody,
  type SavedReportPatch,
  SavedReportPut,
  type SavedReportView,
  SavedReportView as View,
} from "#shared/admin/reports.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Spec } from "#shared/report.ts";
import { viewAs } from "#shared/view-as.ts";
import { GatewayError, orNotFound, refuse } from "../errors.ts";
import { savedScope } from "../identity/scope.ts";
import type { Viewer } from "../identity/viewer.ts";
import { readJson } from "../plugins/body.ts";
import { CATALOGUE, type CatalogueEntry } from "../reports/catalogue.ts";
import { DEFAULT_FRAME, isBuiltIn } from "../reports/request.ts";
import { checkSpec } from "../reports/spec.ts";
import { periodsOf } from "../reports/window.ts";
import type { AuditEntry, Origin } from "../stores/audit.ts";
import type { Reader } from "../stores/change.ts";
import { isVisible, type SavedReportRow, savedReportRows } from "../stores/reports/saved-reports.ts";
import { type AdminDeps, adminPart, readDatabase, saveChange } from "./deps.ts";
import { adminRoute, created, LIST_QUERY, noContent, type RouteDocs } from "./documented.ts";
import { pageFrom, readListQuery, requireSameName } from "./list.ts";

/** `/admin/v1/reports`: the reports that there are by name, the built-in ones among them. */
export const adminReports = (deps: AdminDeps) =>
  adminPart(deps, "reports")
    .get("", ({ request, viewer }) => list(deps, request, viewer), { ...LIST })
    .post("", ({ request, ...by }) => create(deps, by, request), { ...CREATE })
    .get("/:id", ({ params, viewer }) => readOne(deps, params.id, viewer), { ...READ })
    .put("/:id", ({ request, params, ...by }) => put(deps, by, { id: params.id, request }), { ...PUT })
    .patch("/:id", ({ request, params, ...by }) => patch(deps, by, { id: params.id, request }), { ...PATCH })
    .delete("/:id", ({ params, ...by }) => remove(deps, by, params.id), { ...DELETE });

type By = { viewer: Viewer; origin: Origin };

const adminDocs = adminRoute("reports");
const docs = (it: Omit<RouteDocs, "role">) => adminDocs({ ...it, role: "manager" });
const FIXED = "A built-in report cannot be changed: 403.";
const LIST = docs({
  summary: "List reports",
  description: "The built-in ones first, then the saved ones by id.",
  query: LIST_QUERY,
  answers: { 200: pageOf(View) },
});
const CREATE = docs({ summary: "Save a report", body: SavedReportBody, answers: { 201: View } });
const READ = docs({ summary: "Read a report", answers: { 200: View } });
const PUT = docs({
  summary: "Save or replace a report",
  description: FIXED,
  body: SavedReportPut,
  answers: { 200: View, 201: View },
});
const PATCH = docs({ summary: "Change a report", description: FIXED, body: Patch, answers: { 200: View } });
const DELETE = docs({ summary: "Delete a report", description: FIXED, answers: { 204: null } });

async function list(deps: AdminDeps, request: Request, viewer: Viewer): Promise<Page<SavedReportView>> {
  const { limit, after } = readListQuery(request, []);
  const place = CATALOGUE.findIndex(({ id }) => id === after);
  const builtIn = after === null || place >= 0 ? CATALOGUE.slice(place + 1).map(builtInView) : [];
  const isTheirs = isVisible(savedScope(viewer));
  const slice = { after: place >= 0 ? null : after, limit: limit + 1 };
  const saved = await readDatabase(deps, (db) => savedReportRows.list(db, slice, isTheirs));
  const views = [...builtIn, ...saved.map(viewOf)];
  return pageFrom(views, limit, { view: (view) => view, cursor: ({ id }) => id });
}

async function create(deps: AdminDeps, { viewer, origin }: By, request: Request): Promise<Response> {
  const body = await readJson(deps, request, SavedReportBody);
  if (isBuiltIn(body.id)) throw new GatewayError("conflict");
  const row = { ...newReport(deps, body.id, body), ...ownerOf(viewer) };
  await saveChange(deps, origin, async (tx, audit) => {
    if (await savedReportRows.find(tx, row.id)) throw new GatewayError("conflict");
    await savedReportRows.write(tx, row);
    await audit(savedEntry(null, row));
  });
  return created(viewOf(row));
}

async function readOne(deps: AdminDeps, id: string, viewer: Viewer): Promise<SavedReportView> {
  const entry = CATALOGUE.find((report) => report.id === id);
  if (entry) return builtInView(entry);
  const row = orNotFound(await readDatabase(deps, (db) => visible(db, id, viewer)));
  return viewOf(row);
}

const visible = (reader: Reader, id: string, viewer: Viewer) =>
  savedReportRows.find(reader, id, isVisible(savedScope(viewer)));

type ReportRequest = { id: string; request: Request };

async function put(deps: AdminDeps, { viewer, origin }: By, { id, request }: ReportRequest) {
  requireSaved(id);
  const { id: repeated, ...body } = await readJson(deps, request, SavedReportPut);
  if (repeated !== undefined && repeated !== id) refuse("/id: Expected the id in the address, or no id.");
  requireSameName(id, undefined, Name);
  const made = { ...newReport(deps, id, body), ...ownerOf(viewer) };
  const { row, isNew } = await saveChange(deps, origin, async (tx, audit) => {
    const current = await savedReportRows.find(tx, id);
    if (current) requireTheirs(viewer, current, "conflict");
    const row = current ? { ...made, ...kept(current) } : made;
    await savedReportRows.write(tx, row);
    await audit(savedEntry(current, row));
    return { row, isNew: !current };
  });
  return isNew ? created(viewOf(row)) : viewOf(row);
}

async function patch(deps: AdminDeps, { viewer, origin }: By, { id, request }: ReportRequest) {
  requireSaved(id);
  const body = await readJson(deps, request, Patch);
  const spec = body.spec && usable(deps, body.spec);
  const row = await saveChange(deps, origin, async (tx, audit) => {
    const current = orNotFound(await visible(tx, id, viewer));
    requireTheirs(viewer, current, "role_not_allowed");
    const patched = { ...current, ...body, ...(spec && { spec }), updatedAt: deps.clock.now().toISOString() };
    await savedReportRows.write(tx, patched);
    await audit(savedEntry(current, patched));
    return patched;
  });
  return viewOf(row);
}

async function remove(deps: AdminDeps, { viewer, origin }: By, id: string): Promise<Response> {
  requireSaved(id);
  await saveChange(deps, origin, async (tx, audit) => {
    const current = await visible(tx, id, viewer);
    if (current) requireTheirs(viewer, current, "role_not_allowed");
    const gone = orNotFound(current && (await savedReportRows.remove(tx, id)));
    await audit({ action: "report.deleted", subject: id, before: viewOf(gone) });
  });
  return noContent();
}

const savedEntry = (before: SavedReportRow | null, after: SavedReportRow): AuditEntry => ({
  action: "report.saved",
  subject: after.id,
  ...(before && { before: viewOf(before) }),
  after: viewOf(after),
});

/** A manager's report belongs to them and their team; an administrator's to everyone. */
const ownerOf = ({ role, team, person }: Viewer): Pick<SavedReportRow, "owner" | "team"> =>
  role === "administrator" ? { owner: null, team: null } : { owner: person?.email ?? null, team };

const kept = ({ owner, team, createdAt }: SavedReportRow) => ({ owner, team, createdAt });

/** Managers change what is theirs or their team's. @throws GatewayError of the given type */
function requireTheirs(viewer: Viewer, row: SavedReportRow, otherwise: "conflict" | "role_not_allowed") {
  const { owner, team } = ownerOf(viewer);
  const isTheirs = (owner !== null && row.owner === owner) || (team !== null && row.team === team);
  if (viewer.role !== "administrator" && !isTheirs) throw new GatewayError(otherwise);
}

function requireSaved(id: string): void {
  if (isBuiltIn(id)) throw new GatewayError("built_in", "The report is built in and cannot be changed.");
}

/** The spec, if its source can answer it and its range can be. @throws GatewayError invalid_request */
function usable(deps: AdminDeps, value: Spec): Spec {
  const spec = checkSpec(value);
  periodsOf(spec.range, spec.compare, { now: deps.clock.now() });
  return spec;
}

type Content = Required<Pick<SavedReportPatch, "title" | "spec">> & Pick<SavedReportPatch, "description">;

function newReport(deps: AdminDeps, id: string, { title, description = "", spec }: Content): SavedReportRow {
  const now = deps.clock.now().toISOString();
  const row = {
    orgId: DEFAULT_ORG,
    id,
    title,
    description,
    owner: null,
    team: null,
    spec: usable(deps, spec),
  };
  return { ...row, createdAt: now, updatedAt: now };
}

const viewOf = (row: SavedReportRow): SavedReportView => viewAs(View, { ...row, builtIn: false });

const builtInView = ({ id, title, description, spec }: CatalogueEntry): SavedReportView => ({
  id,
  title,
  description,
  spec: { ...DEFAULT_FRAME, ...spec, filters: {} },
  built_in: true,
  created_at: null,
  updated_at: null,
});
