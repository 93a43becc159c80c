import { Elysia } from "elysia";
import { Name, type Page, pageOf } from "#shared/admin/fields.ts";
import {
  GuardrailBody,
  GuardrailPatch,
  GuardrailPut,
  type GuardrailView,
  GuardrailView as View,
} from "#shared/admin/guardrails.ts";
import { GatewayError } from "../errors.ts";
import { patternFault } from "../guardrail/pattern.ts";
import { adminKey } from "../plugins/admin-key.ts";
import {
  deleteGuardrail,
  findGuardrail,
  type GuardrailRow,
  listGuardrails,
  newGuardrail,
  patchedGuardrail,
  writeGuardrail,
} from "../stores/guardrails.ts";
import { readJson } from "./body.ts";
import { type AdminDeps, changed, read } from "./deps.ts";
import { created, documented, LIST_QUERY, noContent } from "./documented.ts";
import { page, readListQuery } from "./list.ts";
import { requireSameName } from "./names.ts";

/** `/admin/v1/guardrails`: rules that refuse calls before anything goes to a provider. */
export const adminGuardrails = (deps: AdminDeps) =>
  new Elysia({ name: "admin.guardrails", prefix: "/guardrails" })
    .use(adminKey(deps.isAdmin))
    .get("", ({ request }) => list(deps, request), { ...LIST })
    .post("", ({ request }) => create(deps, request), { ...CREATE })
    .get("/:name", ({ params }) => readOne(deps, params.name), { ...READ })
    .put("/:name", ({ request, params }) => put(deps, params.name, request), { ...PUT })
    .patch("/:name", ({ request, params }) => patch(deps, params.name, request), { ...PATCH })
    .delete("/:name", ({ params }) => remove(deps, params.name), { ...DELETE });

const docs = documented("guardrails");
const LIST = docs({
  summary: "List guardrails",
  description: "By name. They are tried in the order of `position`, then of their names.",
  query: LIST_QUERY,
  answers: { 200: pageOf(View) },
});
const CREATE = docs({
  summary: "Create a guardrail",
  description:
    "It holds where all of `match` holds; with an empty `match`, on the routes that list it. The refusal is soft where `action` or the route's `refuse_with` is `soft_deny`, and 403 otherwise. With `mode: observe` it is only counted.",
  body: GuardrailBody,
  answers: { 201: View },
});
const READ = docs({ summary: "Read a guardrail", answers: { 200: View } });
const PUT = docs({
  summary: "Create or replace a guardrail",
  description: "What the body leaves out gets its default.",
  body: GuardrailPut,
  answers: { 200: View, 201: View },
});
const PATCH = docs({ summary: "Change a guardrail", body: GuardrailPatch, answers: { 200: View } });
const DELETE = docs({ summary: "Delete a guardrail", answers: { 204: null } });

async function list(deps: AdminDeps, request: Request): Promise<Page<GuardrailView>> {
  const { limit, after } = readListQuery(request, []);
  const rows = await read(deps, (db) => listGuardrails(db, { after, limit: limit + 1 }));
  return page(rows, limit, { view: viewOf, cursor: (row) => row.name });
}

async function create(deps: AdminDeps, request: Request): Promise<Response> {
  const { name, ...body } = await readJson(request, GuardrailBody);
  await requireUsable(deps, body);
  const row = newGuardrail(name, body, deps.clock.now());
  await changed(deps, async (tx) => {
    if (await findGuardrail(tx, name)) throw new GatewayError("conflict");
    await writeGuardrail(tx, row);
  });
  return created(viewOf(row));
}

async function readOne(deps: AdminDeps, name: string): Promise<GuardrailView> {
  const row = await read(deps, (db) => findGuardrail(db, name));
  if (!row) throw new GatewayError("not_found");
  return viewOf(row);
}

async function put(deps: AdminDeps, name: string, request: Request): Promise<Response | GuardrailView> {
  const { name: repeated, ...body } = await readJson(request, GuardrailPut);
  requireSameName(name, repeated, Name);
  await requireUsable(deps, body);
  const made = newGuardrail(name, body, deps.clock.now());
  const { row, isNew } = await changed(deps, async (tx) => {
    const current = await findGuardrail(tx, name);
    const row = { ...made, createdAt: current?.createdAt ?? made.createdAt };
    await writeGuardrail(tx, row);
    return { row, isNew: !current };
  });
  return isNew ? created(viewOf(row)) : viewOf(row);
}

async function patch(deps: AdminDeps, name: string, request: Request): Promise<GuardrailView> {
  const body = await readJson(request, GuardrailPatch);
  await requireUsable(deps, body);
  const row = await changed(deps, async (tx) => {
    const current = await findGuardrail(tx, name);
    if (!current) throw new GatewayError("not_found");
    const patched = patchedGuardrail(current, body, deps.clock.now());
    await writeGuardrail(tx, patched);
    return patched;
  });
  return viewOf(row);
}

async function remove(deps: AdminDeps, name: string): Promise<Response> {
  await changed(deps, async (tx) => {
    if (!(await deleteGuardrail(tx, name))) throw new GatewayError("not_found");
  });
  return noContent();
}

/** @throws GatewayError invalid_request for a pattern that is none, or an address that may not be asked. */
async function requireUsable(deps: AdminDeps, { match, callout }: GuardrailPatch): Promise<void> {
  const pattern = match?.pattern === undefined ? null : patternFault(match.pattern);
  if (pattern !== null) throw new GatewayError("invalid_request", `/match/pattern: ${pattern}.`);
  if (!callout) return;
  const { url, allow_private_network = false } = callout;
  const address = await deps.addressGuard.saveFault(url, allow_private_network);
  if (address !== null) throw new GatewayError("invalid_request", `/callout/url: ${address}.`);
}

const viewOf = (row: GuardrailRow): GuardrailView => ({
  name: row.name,
  position: row.position,
  enabled: row.enabled,
  mode: row.mode,
  match: row.match,
  action: row.action,
  message: row.message,
  callout: row.callout,
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});
