import { Elysia } from "elysia";
import { type Page, pageOf } from "#shared/admin/fields.ts";
import {
  RouteBody,
  RouteName,
  RoutePatch,
  RoutePut,
  type RouteView,
  RouteView as View,
} from "#shared/admin/routes.ts";
import { GatewayError } from "../errors.ts";
import { adminKey } from "../plugins/admin-key.ts";
import {
  deleteRoute,
  findRoute,
  listRoutes,
  newRoute,
  patchedRoute,
  type RouteRow,
  writeRoute,
} from "../stores/routes.ts";
import { readJson } from "./body.ts";
import { type AdminDeps, changed, read } from "./deps.ts";
import { created, documented, LIST_QUERY, noContent } from "./documented.ts";
import { page, readListQuery } from "./list.ts";
import { requireSameName } from "./names.ts";

/** `/admin/v1/routes`: named kinds of task, and the model behind each. */
export const adminRoutes = (deps: AdminDeps) =>
  new Elysia({ name: "admin.routes", prefix: "/routes" })
    .use(adminKey(deps.isAdmin))
    .get("", ({ request }) => list(deps, request), { ...LIST })
    .post("", ({ request }) => create(deps, request), { ...CREATE })
    .get("/:name", ({ params }) => readOne(deps, params.name), { ...READ })
    .put("/:name", ({ request, params }) => put(deps, params.name, request), { ...PUT })
    .patch("/:name", ({ request, params }) => patch(deps, params.name, request), { ...PATCH })
    .delete("/:name", ({ params }) => remove(deps, params.name), { ...DELETE });

const docs = documented("routes");
const LIST = docs({ summary: "List routes", query: LIST_QUERY, answers: { 200: pageOf(View) } });
const CREATE = docs({ summary: "Create a route", body: RouteBody, answers: { 201: View } });
const READ = docs({ summary: "Read a route", answers: { 200: View } });
const PUT = docs({
  summary: "Create or replace a route",
  description: "What the body leaves out gets its default.",
  body: RoutePut,
  answers: { 200: View, 201: View },
});
const PATCH = docs({ summary: "Change a route", body: RoutePatch, answers: { 200: View } });
const DELETE = docs({ summary: "Delete a route", answers: { 204: null } });

async function list(deps: AdminDeps, request: Request): Promise<Page<RouteView>> {
  const { limit, after } = readListQuery(request, []);
  const rows = await read(deps, (db) => listRoutes(db, { after, limit: limit + 1 }));
  return page(rows, limit, { view: viewOf, cursor: (row) => row.name });
}

async function create(deps: AdminDeps, request: Request): Promise<Response> {
  const { name, ...body } = await readJson(request, RouteBody);
  const row = newRoute(name, body, deps.clock.now());
  await changed(deps, async (tx) => {
    if (await findRoute(tx, name)) throw new GatewayError("conflict");
    await writeRoute(tx, row);
  });
  return created(viewOf(row));
}

async function readOne(deps: AdminDeps, name: string): Promise<RouteView> {
  const row = await read(deps, (db) => findRoute(db, name));
  if (!row) throw new GatewayError("not_found");
  return viewOf(row);
}

async function put(deps: AdminDeps, name: string, request: Request): Promise<Response | RouteView> {
  const { name: repeated, ...body } = await readJson(request, RoutePut);
  requireSameName(name, repeated, RouteName);
  const made = newRoute(name, body, deps.clock.now());
  const { row, isNew } = await changed(deps, async (tx) => {
    const current = await findRoute(tx, name);
    const row = { ...made, createdAt: current?.createdAt ?? made.createdAt };
    await writeRoute(tx, row);
    return { row, isNew: !current };
  });
  return isNew ? created(viewOf(row)) : viewOf(row);
}

async function patch(deps: AdminDeps, name: string, request: Request): Promise<RouteView> {
  const body = await readJson(request, RoutePatch);
  const row = await changed(deps, async (tx) => {
    const current = await findRoute(tx, name);
    if (!current) throw new GatewayError("not_found");
    const patched = patchedRoute(current, body, deps.clock.now());
    await writeRoute(tx, patched);
    return patched;
  });
  return viewOf(row);
}

async function remove(deps: AdminDeps, name: string): Promise<Response> {
  await changed(deps, async (tx) => {
    if (!(await deleteRoute(tx, name, deps.clock.now()))) throw new GatewayError("not_found");
  });
  return noContent();
}

const viewOf = (row: RouteRow): RouteView => ({
  name: row.name,
  surface: row.surface,
  provider: row.provider,
  model: row.model,
  fallbacks: row.fallbacks,
  description: row.description,
  examples: row.examples,
  keywords: row.keywords,
  guardrails: row.guardrails,
  body_capture: row.bodyCapture,
  subscription_passthrough: row.subscriptionPassthrough,
  usage_chunk: row.usageChunk,
  on_client_gone: row.onClientGone,
  refuse_with: row.refuseWith,
  enabled: row.enabled,
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});
