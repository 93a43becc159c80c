import { Elysia } from "elysia";
import { type Page, pageOf } from "#shared/admin/fields.ts";
import {
  McpServerBody,
  McpServerPatch,
  McpServerPut,
  type McpServerView,
  ToolServerName,
  McpServerView as View,
} from "#shared/admin/mcp-servers.ts";
import { GatewayError } from "../errors.ts";
import { adminKey } from "../plugins/admin-key.ts";
import {
  deleteMcpServer,
  editedMcpServer,
  findMcpServer,
  listMcpServers,
  type McpServerEdit,
  type McpServerRow,
  writeMcpServer,
} from "../stores/tools/mcp-servers.ts";
import { readJson } from "./body.ts";
import { type AdminDeps, changed, read } from "./deps.ts";
import { created, documented, LIST_QUERY, noContent } from "./documented.ts";
import { page, readListQuery } from "./list.ts";
import { requireSameName } from "./names.ts";

/** `/admin/v1/mcp-servers`: whose tools `/mcp` offers, and with which credential they are called. */
export const adminMcpServers = (deps: AdminDeps) =>
  new Elysia({ name: "admin.mcp-servers", prefix: "/mcp-servers" })
    .use(adminKey(deps.isAdmin))
    .get("", ({ request }) => list(deps, request), { ...LIST })
    .post("", ({ request }) => create(deps, request), { ...CREATE })
    .get("/:name", ({ params }) => readOne(deps, params.name), { ...READ })
    .put("/:name", ({ request, params }) => put(deps, params.name, request), { ...PUT })
    .patch("/:name", ({ request, params }) => patch(deps, params.name, request), { ...PATCH })
    .delete("/:name", ({ params }) => remove(deps, params.name), { ...DELETE });

const docs = documented("mcp-servers");
const LIST = docs({ summary: "List tool servers", query: LIST_QUERY, answers: { 200: pageOf(View) } });
const CREATE = docs({
  summary: "Register a tool server",
  description:
    "A server of the Model Context Protocol over streamable HTTP, of any revision from 2025-06-18 on. Its tools appear at /mcp as `server__tool`, and at /mcp/{name} under their own names.",
  body: McpServerBody,
  answers: { 201: View },
});
const READ = docs({ summary: "Read a tool server", answers: { 200: View } });
const PUT = docs({
  summary: "Register or replace a tool server",
  description:
    "What the body leaves out gets its default. A credential stays unless the calls would go to another address or in another header.",
  body: McpServerPut,
  answers: { 200: View, 201: View },
});
const PATCH = docs({
  summary: "Change a tool server",
  description: "A new `url` or `credential_header` clears the credential, unless one is sent along.",
  body: McpServerPatch,
  answers: { 200: View },
});
const DELETE = docs({ summary: "Delete a tool server", answers: { 204: null } });

async function list(deps: AdminDeps, request: Request): Promise<Page<McpServerView>> {
  const { limit, after } = readListQuery(request, []);
  const rows = await read(deps, (db) => listMcpServers(db, { after, limit: limit + 1 }));
  return page(rows, limit, { view: viewOf, cursor: (row) => row.name });
}

async function create(deps: AdminDeps, request: Request): Promise<Response> {
  const { name, ...body } = await readJson(request, McpServerBody);
  const { row } = await save(deps, name, { body, merge: false, expected: "new" });
  return created(viewOf(row));
}

async function readOne(deps: AdminDeps, name: string): Promise<McpServerView> {
  const row = await read(deps, (db) => findMcpServer(db, name));
  if (!row) throw new GatewayError("not_found");
  return viewOf(row);
}

async function put(deps: AdminDeps, name: string, request: Request): Promise<Response | McpServerView> {
  const { name: repeated, ...body } = await readJson(request, McpServerPut);
  requireSameName(name, repeated, ToolServerName);
  const { row, isNew } = await save(deps, name, { body, merge: false, expected: "any" });
  return isNew ? created(viewOf(row)) : viewOf(row);
}

async function patch(deps: AdminDeps, name: string, request: Request): Promise<McpServerView> {
  const body = await readJson(request, McpServerPatch);
  return viewOf((await save(deps, name, { body, merge: true, expected: "present" })).row);
}

async function remove(deps: AdminDeps, name: string): Promise<Response> {
  await changed(deps, async (tx) => {
    if (!(await deleteMcpServer(tx, name, deps.clock.now()))) throw new GatewayError("not_found");
  });
  return noContent();
}

type Save = Pick<McpServerEdit, "body" | "merge"> & {
  /** What must be there before. */
  expected: "new" | "present" | "any";
};

const save = (deps: AdminDeps, name: string, it: Save): Promise<{ row: McpServerRow; isNew: boolean }> =>
  changed(deps, async (tx) => {
    const current = await findMcpServer(tx, name);
    if (current && it.expected === "new") throw new GatewayError("conflict");
    if (!current && it.expected === "present") throw new GatewayError("not_found");
    const { body, merge } = it;
    const row = editedMcpServer({ name, current, body, merge, sealer: deps.sealer, now: deps.clock.now() });
    await requireSafe(deps, row);
    await writeMcpServer(tx, row);
    return { row, isNew: !current };
  });

/** Headers of the protocol's own, and those that decide how the connection works. */
const RESERVED_HEADER =
  /^(mcp-.*|accept|accept-encoding|content-type|content-length|host|transfer-encoding|connection|upgrade|te|trailer|expect|last-event-id|cookie|set-cookie|proxy-.*)$/i;

async function requireSafe(deps: AdminDeps, row: McpServerRow): Promise<void> {
  if (row.credentialHeader !== null && RESERVED_HEADER.test(row.credentialHeader)) {
    throw new GatewayError("invalid_request", "/credential_header: This header is set by the gateway.");
  }
  const fault = await deps.addressGuard.saveFault(row.url, row.allowPrivateNetwork);
  if (fault !== null) throw new GatewayError("invalid_request", `/url: ${fault}.`);
}

const viewOf = (row: McpServerRow): McpServerView => ({
  name: row.name,
  url: row.url,
  has_credential: row.credential !== null,
  credential_header: row.credentialHeader,
  tools: row.tools,
  price_per_call: row.pricePerCall,
  prices: row.prices,
  allow_private_network: row.allowPrivateNetwork,
  enabled: row.enabled,
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});
