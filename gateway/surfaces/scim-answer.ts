import type { TSchema } from "@sinclair/typebox";
import { type DocumentDecoration, Elysia } from "elysia";
import { includesRole } from "#shared/admin/people.ts";
import type { AdminDeps } from "../admin/deps.ts";
import { GatewayError } from "../errors.ts";
import { requestIdOf } from "../http/listener.ts";
import { SCIM_JSON, ScimError, scimErrorAnswer } from "../identity/scim/scim-error.ts";
import { hasKey, identify } from "../identity/viewer.ts";
import { readJson } from "../plugins/body.ts";
import { CREDENTIALS } from "../plugins/refusals.ts";
import type { Origin } from "../stores/audit.ts";

/** `id`: that of the path, empty without one. */
export type ScimAsked = { request: Request; origin: Origin; id: string };
type Work = (it: ScimAsked) => Promise<object | null>;

/** Addresses of SCIM, each with what it answers; null: without a body. */
export function scimAddresses(
  deps: AdminDeps,
  prefix: string,
  addresses: readonly (readonly [method: string, path: string, detail: DocumentDecoration, work: Work])[],
) {
  const app = new Elysia({ name: `surface.scim${prefix}`, prefix });
  for (const [method, path, detail, work] of addresses) {
    const answer = ({ request, params }: { request: Request; params?: { id?: string } }) =>
      answered(deps, { request, id: params?.id ?? "" }, work);
    app.route(method, path, answer, { parse: "none", detail });
  }
  return app;
}

/** The answer to a caller who is an administrator by key or token. */
async function answered(
  deps: AdminDeps,
  { request, id }: Pick<ScimAsked, "request" | "id">,
  work: Work,
): Promise<Response> {
  try {
    const body = await work({ request, id, origin: await administrator(deps, request) });
    if (body === null) return new Response(null, { status: 204 });
    return Response.json(body, { status: request.method === "POST" ? 201 : 200, headers: SCIM_JSON });
  } catch (error) {
    return scimErrorAnswer(error);
  }
}

/** A directory has no browser, so a cookie does not count. @throws GatewayError unauthenticated; role_not_allowed. */
async function administrator(deps: AdminDeps, request: Request): Promise<Origin> {
  if (!hasKey(request.headers)) throw new GatewayError("unauthenticated", CREDENTIALS.admin_key);
  const { actor, role } = await identify(deps, request);
  if (!includesRole(role, "administrator")) throw new GatewayError("role_not_allowed");
  return {
    actor,
    address: deps.refusals.addressOf(request),
    requestId: requestIdOf(request),
    at: deps.clock.now(),
  };
}

export const baseOf = ({ publicUrl }: AdminDeps, request: Request): string =>
  publicUrl ?? new URL(request.url).origin;
export async function readScim<T extends TSchema>(deps: AdminDeps, request: Request, schema: T) {
  try {
    return await readJson(deps, request, schema);
  } catch (error) {
    const isSyntax = error instanceof GatewayError && error.type === "invalid_request";
    throw isSyntax ? new ScimError("invalidSyntax", error.message) : error;
  }
}
