import type { TokenRow } from "#drizzle/admin-token.ts";
import { pageOf, readInstant } from "#shared/admin/fields.ts";
import {
  TOKEN_DAYS_DEFAULT,
  TOKEN_DAYS_MAX,
  TokenBody,
  TokenView,
  TokenWithSecret,
} from "#shared/admin/tokens.ts";
import { viewAs } from "#shared/view-as.ts";
import { GatewayError, orNotFound, refuse } from "../errors.ts";
import type { Viewer } from "../identity/viewer.ts";
import { readJson } from "../plugins/body.ts";
import type { Origin } from "../stores/audit.ts";
import { audited } from "../stores/change.ts";
import {
  deleteToken,
  findTokenById,
  findTokenNamed,
  insertToken,
  listTokens,
} from "../stores/identity/tokens.ts";
import { requireTeam } from "../stores/teams.ts";
import { type AdminDeps, adminPart, readDatabase } from "./deps.ts";
import { adminRoute, created, LIST_QUERY, noContent } from "./documented.ts";
import { idParameter, pageById } from "./list.ts";

const docs = adminRoute("people");

type Asked = { request: Request; origin: Origin; viewer: Viewer };

/** `/admin/v1/tokens`: credentials of automation, each with a name of its own in the audit log. */
export const adminTokenRoutes = (deps: AdminDeps) =>
  adminPart(deps, "tokens")
    .get(
      "",
      ({ request }) => pageById(deps, request, { list: listTokens, view: viewOf }),
      docs({
        summary: "List admin tokens, newest first",
        query: LIST_QUERY,
        answers: { 200: pageOf(TokenView) },
      }),
    )
    .post("", ({ request, origin, viewer }) => create(deps, { request, origin, viewer }), {
      ...docs({
        summary: "Create an admin token",
        description:
          "Send it as `Authorization: Bearer`. It may do what its role or scopes say until it expires, or until the administrator who made it is disabled or no longer one.",
        body: TokenBody,
        answers: { 201: TokenWithSecret },
      }),
    })
    .get("/:id", ({ params }) => read(deps, params.id), {
      ...docs({ summary: "Read an admin token", answers: { 200: TokenView } }),
    })
    .delete("/:id", ({ params, origin }) => revoke(deps, origin, params.id), {
      ...docs({
        summary: "Revoke an admin token",
        description: "It is refused everywhere from then on.",
        answers: { 204: null },
      }),
    });

async function read(deps: AdminDeps, id: string): Promise<TokenView> {
  const row = orNotFound(await readDatabase(deps, (db) => findTokenById(db, idParameter(id))));
  return viewOf(row);
}

async function create(deps: AdminDeps, { origin, viewer, request }: Asked): Promise<Response> {
  const body = await readJson(deps, request, TokenBody);
  const now = deps.clock.now();
  const facts = factsOf(body, now);
  const made = await audited(deps.database, origin, async (tx, audit) => {
    if (await findTokenNamed(tx, body.name)) throw new GatewayError("conflict");
    await requireTeam(tx, body.team ?? null);
    const { row, secret } = await insertToken(tx, { ...facts, maker: viewer.maker }, now);
    await audit({ action: "token.created", subject: row.name, after: viewOf(row) });
    return { ...viewOf(row), secret };
  });
  return created(made);
}

/** @throws GatewayError invalid_request */
function factsOf({ name, team = null, ...body }: TokenBody, now: Date) {
  const { role = null, scopes = null }: Partial<Pick<TokenRow, "role" | "scopes">> = body;
  if ((role === null) === (scopes === null)) refuse("/role: Expected either a role or scopes.");
  if (team !== null && role !== null && role !== "manager")
    refuse(
      "/team: Expected only with the role manager or with scopes: the other roles have no team's limits.",
    );
  const repository = body.repository?.toLowerCase() ?? null;
  if (repository !== null && scopes?.join() !== "pull_requests")
    refuse("/repository: Expected only with the scope pull_requests alone.");
  const days = (count: number): number => now.getTime() + count * 86_400_000;
  const endsMs =
    body.expires_at === undefined ? days(TOKEN_DAYS_DEFAULT) : (readInstant(body.expires_at) ?? 0);
  if (endsMs <= now.getTime() || endsMs > days(TOKEN_DAYS_MAX))
    refuse(`/expires_at: Expected a time in the future, at most ${TOKEN_DAYS_MAX} days away.`);
  return { name, role, scopes, team, repository, expiresAt: new Date(endsMs).toISOString() };
}

async function revoke(deps: AdminDeps, origin: Origin, id: string): Promise<Response> {
  await audited(deps.database, origin, async (tx, audit) => {
    const gone = orNotFound(await deleteToken(tx, idParameter(id)));
    await audit({ action: "token.revoked", subject: gone.name, before: viewOf(gone) });
  });
  return noContent();
}

const viewOf = (row: TokenRow): TokenView => viewAs(TokenView, row);
