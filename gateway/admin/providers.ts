import { Elysia } from "elysia";
import { Name, type Page, pageOf } from "#shared/admin/fields.ts";
import {
  ProviderBody,
  ProviderPatch,
  ProviderPut,
  type ProviderView,
  ProviderView as View,
} from "#shared/admin/providers.ts";
import { GatewayError } from "../errors.ts";
import { adminKey } from "../plugins/admin-key.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import type { Transaction } from "../stores/change.ts";
import {
  baseUrlOf,
  environmentCredential,
  isProviderKind,
  type ProviderRow,
} from "../stores/directory/provider-rows.ts";
import {
  deleteProvider,
  editedProvider,
  findProvider,
  listProviders,
  type ProviderEdit,
  writeProvider,
} from "../stores/providers.ts";
import { readJson } from "./body.ts";
import { type AdminDeps, changed, read } from "./deps.ts";
import { created, documented, LIST_QUERY, noContent } from "./documented.ts";
import { page, readListQuery } from "./list.ts";
import { requireSameName } from "./names.ts";

/** `/admin/v1/providers`: who answers calls, and with which credential they are asked. */
export const adminProviders = (deps: AdminDeps) =>
  new Elysia({ name: "admin.providers", prefix: "/providers" })
    .use(adminKey(deps.isAdmin))
    .get("", ({ request }) => list(deps, request), { ...LIST })
    .post("", ({ request }) => create(deps, request), { ...CREATE })
    .get("/:name", async ({ params }) => viewOf(deps, await existing(deps, params.name)), { ...READ })
    .put("/:name", ({ request, params }) => put(deps, params.name, request), { ...PUT })
    .patch("/:name", ({ request, params }) => patch(deps, params.name, request), { ...PATCH })
    .delete("/:name", ({ params }) => remove(deps, params.name), { ...DELETE });

const docs = documented("providers");
const LIST = docs({ summary: "List providers", query: LIST_QUERY, answers: { 200: pageOf(View) } });
const CREATE = docs({ summary: "Create a provider", body: ProviderBody, answers: { 201: View } });
const READ = docs({ summary: "Read a provider", answers: { 200: View } });
const PUT = docs({
  summary: "Create or replace a provider",
  description:
    "What the body leaves out gets its default. A credential stays unless the calls would go to another address.",
  body: ProviderPut,
  answers: { 200: View, 201: View },
});
const PATCH = docs({
  summary: "Change a provider",
  description: "A new `base_url` clears the credential, unless one is sent along.",
  body: ProviderPatch,
  answers: { 200: View },
});
const DELETE = docs({ summary: "Delete a provider that no route uses", answers: { 204: null } });

async function list(deps: AdminDeps, request: Request): Promise<Page<ProviderView>> {
  const { limit, after } = readListQuery(request, []);
  const rows = await read(deps, (db) => listProviders(db, { after, limit: limit + 1 }));
  return page(rows, limit, { view: (row) => viewOf(deps, row), cursor: (row) => row.name });
}

async function create(deps: AdminDeps, request: Request): Promise<Response> {
  const { name, ...body } = await readJson(request, ProviderBody);
  const { row } = await save(deps, name, { body, merge: false, expected: "new" });
  return created(viewOf(deps, row));
}

async function put(deps: AdminDeps, name: string, request: Request): Promise<Response | ProviderView> {
  const { name: repeated, ...body } = await readJson(request, ProviderPut);
  requireSameName(name, repeated, Name);
  const { row, isNew } = await save(deps, name, { body, merge: false, expected: "any" });
  return isNew ? created(viewOf(deps, row)) : viewOf(deps, row);
}

async function patch(deps: AdminDeps, name: string, request: Request): Promise<ProviderView> {
  const body = await readJson(request, ProviderPatch);
  const { row } = await save(deps, name, { body, merge: true, expected: "present" });
  return viewOf(deps, row);
}

async function remove(deps: AdminDeps, name: string): Promise<Response> {
  await changed(deps, async (tx) => {
    if (!(await deleteProvider(tx, name))) throw new GatewayError("not_found");
  });
  return noContent();
}

async function existing(deps: AdminDeps, name: string): Promise<ProviderRow> {
  const row = await read(deps, (db) => findProvider(db, name));
  if (!row) throw new GatewayError("not_found");
  return row;
}

type Save = Pick<ProviderEdit, "body" | "merge"> & {
  /** What must be there before. */
  expected: "new" | "present" | "any";
};

const save = (deps: AdminDeps, name: string, it: Save): Promise<{ row: ProviderRow; isNew: boolean }> =>
  changed(deps, async (tx: Transaction) => {
    const current = await findProvider(tx, name);
    if (current && it.expected === "new") throw new GatewayError("conflict");
    if (!current && it.expected === "present") throw new GatewayError("not_found");
    const edit = {
      name,
      current,
      body: it.body,
      merge: it.merge,
      sealer: deps.sealer,
      now: deps.clock.now(),
    };
    const row = editedProvider(edit);
    await requireSafe(deps, row);
    await writeProvider(tx, row);
    return { row, isNew: !current };
  });

/** Headers that carry credentials, which belong where they are encrypted, or that decide how the connection works. */
const RESERVED_HEADER =
  /^(authorization|proxy-.*|cookie|set-cookie|x-api-key|api-key|x-goog-api-key|host|content-length|transfer-encoding|connection|upgrade|te|trailer|expect)$/i;

async function requireSafe(deps: AdminDeps, row: ProviderRow): Promise<void> {
  const { kind, baseUrl } = row;
  if (!isProviderKind(kind)) return;
  if (baseUrl === null && PROVIDERS[kind].baseUrl === null) {
    throw new GatewayError("invalid_request", `/base_url: A provider of kind ${kind} needs one.`);
  }
  const reserved = Object.keys(row.headers).find((name) => RESERVED_HEADER.test(name));
  if (reserved) {
    throw new GatewayError("invalid_request", `/headers/${reserved}: This header is set by the gateway.`);
  }
  if (baseUrl === null) return;
  const fault = await deps.addressGuard.saveFault(baseUrlOf({ kind, baseUrl }), row.allowPrivateNetwork);
  if (fault !== null) throw new GatewayError("invalid_request", `/base_url: ${fault}.`);
}

function viewOf(deps: AdminDeps, row: ProviderRow): ProviderView {
  return {
    name: row.name,
    kind: row.kind,
    base_url: row.baseUrl,
    credential_source: credentialSource(deps, row),
    headers: row.headers,
    models: row.models,
    responses: row.responses,
    trusted_for_passthrough: row.trustedForPassthrough,
    allow_private_network: row.allowPrivateNetwork,
    enabled: row.enabled,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

function credentialSource(
  deps: AdminDeps,
  { name, kind, baseUrl, credential }: ProviderRow,
): ProviderView["credential_source"] {
  if (credential !== null) return "stored";
  const fromEnvironment =
    isProviderKind(kind) && environmentCredential({ name, kind, baseUrl }, deps.providerKeys);
  return fromEnvironment ? "environment" : "none";
}
