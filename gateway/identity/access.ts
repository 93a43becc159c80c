import { Elysia } from "elysia";
import { includesRole, type Role } from "#shared/admin/people.ts";
import type { TokenScope } from "#shared/admin/tokens.ts";
import { newId } from "#shared/ids.ts";
import { GatewayError } from "../errors.ts";
import type { Origin } from "../stores/audit.ts";
import { identify, type Viewer, type ViewerDeps, withScope } from "./viewer.ts";
import { withoutEmails } from "./without-emails.ts";

const JSON_ANSWER = { headers: { "content-type": "application/json" } };

/** The least role that a route needs, and the scope of tokens that opens it, too. */
export type Access = { role: Role; scope: TokenScope | null };

/**
 * Routes marked `{ access }` accept whoever has at least this role, or a token with this scope; the check is bound to the
 * route, never to a path. They get who asks as `viewer`, and as `origin` for the audit log, and answer with the request id in
 * `x-request-id`.
 */
export const access = (deps: ViewerDeps) =>
  new Elysia({ name: "plugin.access" }).macro({
    access: ({ role: least, scope }: Access) => ({
      async resolve({ request, set }) {
        const found = await identify(deps, request);
        if (found.cookie) set.headers["set-cookie"] = found.cookie;
        const requestId = newId();
        set.headers["x-request-id"] = requestId;
        const viewer = withScope(found, scope);
        if (!includesRole(viewer.role, least)) throw new GatewayError("role_not_allowed");
        const address = deps.refusals.addressOf(request);
        const origin: Origin = { actor: viewer.actor, address, requestId, at: deps.clock.now() };
        return { viewer, origin };
      },
      // What is no plain object holds no records.
      afterHandle: ({ viewer, responseValue }: { viewer?: Viewer; responseValue: unknown }) =>
        viewer?.masksEmails && !(responseValue instanceof Response)
          ? new Response(withoutEmails(JSON.stringify(responseValue), deps.cookieSecret), JSON_ANSWER)
          : undefined,
    }),
  });
