import { pageOf, readInstant } from "#shared/admin/fields.ts";
import { TokenBody, TokenView, TokenWithSecret } from "#shared/admin/tokens.ts";
import { GatewayError } from "../errors.ts";
import { readJson } from "../plugins/body.ts";
import type { Origin } from "../stores/audit.ts";
import { audited } from "../stores/change.ts";
import {
  deleteToken,
  findTokenNamed,
  insertToken,
  listTokens,
  type TokenRow,
} from "../stores/identity/tokens.ts";
import { requireTeam } from "../stores/teams.ts";
import { type AdminDeps, adminPart, readDatabase } from "./deps.ts";
import { adminRoute, created, LIST_QUERY, noContent } from "./documented.ts";
import { pageFrom, readListQuery } from "./list.ts";
import { idCursor, idParameter } from "./parameters.ts";
import { viewAs } from "./view-as.ts";

const docs = adminRoute("people");

/** `/admin/v1/tokens`: credentials of automation, each with a name of its own in the audit log. */
export const adminTokenRoutes = (deps: AdminDeps) =>
  adminPart(deps, "tokens")
    .get(
      "",
      async ({ request }) => {
        const { limit, after } = readListQuery(request, []);
        const slice = { after: after && idCursor(after), limit: limit + 1 };
        const rows = await readDatabase(deps, (db) => listTokens(db, slice));
        return pageFrom(rows, limit, { view: viewOf, cursor: (row) => row.id });
      },
      docs({
        summary: "List admin tokens, newest first",
        query: LIST_QUERY,
        answers: { 200: pageOf(TokenView) },
      }),
    )
    .post("", ({ request, origin }) => create(deps, origin, request), {
      ...docs({
        summary: "Create an admin token",
        description: "Send it as `Authorization: Bearer`. It may do what its role may, until it expires.",
        body: TokenBody,
        answers: { 201: TokenWithSecret },
      }),
    })
    .delete("/:id", ({ params, origin }) => revoke(deps, origin, params.id), {
      ...docs({
        summary: "Revoke an admin token",
        description: "It is refused everywhere from then on.",
        answers: { 204: null },
      }),
    });

async function create(deps: AdminDeps, origin: Origin, request: Request): Promise<Response> {
  const { name, role, team = null, expires_at } = await readJson(deps, request, TokenBody);
  const now = deps.clock.now();
  const endsMs = readInstant(expires_at) ?? 0;
  if (endsMs <= now.getTime()) {
    throw new GatewayError("invalid_request", "/expires_at: Expected a time in the future.");
  }
  const made = await audited(deps.database, origin, async (tx, audit) => {
    if (await findTokenNamed(tx, name)) throw new GatewayError("conflict");
    await requireTeam(tx, team);
    const facts = { name, role, team, expiresAt: new Date(endsMs).toISOString() };
    const { row, secret } = await insertToken(tx, facts, now);
    await audit({ action: "token.created", subject: name, after: viewOf(row) });
    return { ...viewOf(row), secret };
  });
  return created(made);
}

async function revoke(deps: AdminDeps, origin: Origin, id: string): Promise<Response> {
  await audited(deps.database, origin, async (tx, audit) => {
    const gone = await deleteToken(tx, idParameter(id));
    if (!gone) throw new GatewayError("not_found");
    await audit({ action: "token.revoked", subject: gone.name, before: viewOf(gone) });
  });
  return noContent();
}

const viewOf = (row: TokenRow): TokenView => viewAs(TokenView, row);
