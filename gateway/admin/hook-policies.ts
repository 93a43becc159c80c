import { Elysia } from "elysia";
import { Name, type Page, pageOf } from "#shared/admin/fields.ts";
import {
  HookPolicyBody,
  HookPolicyPatch,
  HookPolicyPut,
  type HookPolicyView,
  HookPolicyView as View,
} from "#shared/admin/hook-policies.ts";
import { GatewayError } from "../errors.ts";
import { adminKey } from "../plugins/admin-key.ts";
import {
  deleteHookPolicy,
  findHookPolicy,
  type HookPolicyRow,
  listHookPolicies,
  newHookPolicy,
  patchedHookPolicy,
  writeHookPolicy,
} from "../stores/tools/hook-policies.ts";
import { readJson } from "./body.ts";
import { type AdminDeps, changed, read } from "./deps.ts";
import { created, documented, LIST_QUERY, noContent } from "./documented.ts";
import { page, readListQuery } from "./list.ts";
import { requireSameName } from "./names.ts";

/** `/admin/v1/hook-policies`: tools that agents with managed hooks are told not to call. */
export const adminHookPolicies = (deps: AdminDeps) =>
  new Elysia({ name: "admin.hook-policies", prefix: "/hook-policies" })
    .use(adminKey(deps.isAdmin))
    .get("", ({ request }) => list(deps, request), { ...LIST })
    .post("", ({ request }) => create(deps, request), { ...CREATE })
    .get("/:name", ({ params }) => readOne(deps, params.name), { ...READ })
    .put("/:name", ({ request, params }) => put(deps, params.name, request), { ...PUT })
    .patch("/:name", ({ request, params }) => patch(deps, params.name, request), { ...PATCH })
    .delete("/:name", ({ params }) => remove(deps, params.name), { ...DELETE });

const docs = documented("hook policies");
const LIST = docs({ summary: "List hook policies", query: LIST_QUERY, answers: { 200: pageOf(View) } });
const CREATE = docs({
  summary: "Create a hook policy",
  description:
    "Agents with managed hooks ask before they call a tool; a call for which all of `client`, `tool` and `server` hold is denied. The first by name gives the reason.",
  body: HookPolicyBody,
  answers: { 201: View },
});
const READ = docs({ summary: "Read a hook policy", answers: { 200: View } });
const PUT = docs({
  summary: "Create or replace a hook policy",
  description: "What the body leaves out gets its default.",
  body: HookPolicyPut,
  answers: { 200: View, 201: View },
});
const PATCH = docs({ summary: "Change a hook policy", body: HookPolicyPatch, answers: { 200: View } });
const DELETE = docs({ summary: "Delete a hook policy", answers: { 204: null } });

async function list(deps: AdminDeps, request: Request): Promise<Page<HookPolicyView>> {
  const { limit, after } = readListQuery(request, []);
  const rows = await read(deps, (db) => listHookPolicies(db, { after, limit: limit + 1 }));
  return page(rows, limit, { view: viewOf, cursor: (row) => row.name });
}

async function create(deps: AdminDeps, request: Request): Promise<Response> {
  const { name, ...body } = await readJson(request, HookPolicyBody);
  const row = newHookPolicy(name, body, deps.clock.now());
  await changed(deps, async (tx) => {
    if (await findHookPolicy(tx, name)) throw new GatewayError("conflict");
    await writeHookPolicy(tx, row);
  });
  return created(viewOf(row));
}

async function readOne(deps: AdminDeps, name: string): Promise<HookPolicyView> {
  const row = await read(deps, (db) => findHookPolicy(db, name));
  if (!row) throw new GatewayError("not_found");
  return viewOf(row);
}

async function put(deps: AdminDeps, name: string, request: Request): Promise<Response | HookPolicyView> {
  const { name: repeated, ...body } = await readJson(request, HookPolicyPut);
  requireSameName(name, repeated, Name);
  const made = newHookPolicy(name, body, deps.clock.now());
  const { row, isNew } = await changed(deps, async (tx) => {
    const current = await findHookPolicy(tx, name);
    const row = { ...made, createdAt: current?.createdAt ?? made.createdAt };
    await writeHookPolicy(tx, row);
    return { row, isNew: !current };
  });
  return isNew ? created(viewOf(row)) : viewOf(row);
}

async function patch(deps: AdminDeps, name: string, request: Request): Promise<HookPolicyView> {
  const body = await readJson(request, HookPolicyPatch);
  const row = await changed(deps, async (tx) => {
    const current = await findHookPolicy(tx, name);
    if (!current) throw new GatewayError("not_found");
    const patched = patchedHookPolicy(current, body, deps.clock.now());
    await writeHookPolicy(tx, patched);
    return patched;
  });
  return viewOf(row);
}

async function remove(deps: AdminDeps, name: string): Promise<Response> {
  await changed(deps, async (tx) => {
    if (!(await deleteHookPolicy(tx, name, deps.clock.now()))) throw new GatewayError("not_found");
  });
  return noContent();
}

const viewOf = ({ orgId: _, createdAt, updatedAt, ...row }: HookPolicyRow): HookPolicyView => ({
  ...row,
  created_at: createdAt,
  updated_at: updatedAt,
});
