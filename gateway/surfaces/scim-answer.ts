import type { TSchema } from "@sinclair/typebox";
import { includesRole } from "#shared/admin/people.ts";
import type { AdminDeps } from "../admin/deps.ts";
import { GatewayError } from "../errors.ts";
import { requestIdOf } from "../http/listener.ts";
import { SCIM_JSON, ScimError, scimErrorAnswer } from "../identity/scim/scim-error.ts";
import { hasKey, identify } from "../identity/viewer.ts";
import { readJson } from "../plugins/body.ts";
import { CREDENTIALS } from "../plugins/refusals.ts";
import type { Origin } from "../stores/audit.ts";

export type ScimAsked = { request: Request; origin: Origin };

/** The answer to a caller who is an administrator by key or token; null: without a body. */
export async function answered(
  deps: AdminDeps,
  request: Request,
  work: (it: ScimAsked) => Promise<object | null>,
): Promise<Response> {
  try {
    const body = await work({ request, origin: await administrator(deps, request) });
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
