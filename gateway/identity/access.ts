import { Elysia } from "elysia";
import { includesRole, type Role } from "#shared/admin/people.ts";
import type { TokenScope } from "#shared/admin/tokens.ts";
import { GatewayError } from "../errors.ts";
import { requestIdOf } from "../http/listener.ts";
import type { Origin } from "../stores/audit.ts";
import { identify, type Viewer, type ViewerDeps, withScope } from "./viewer.ts";
import { withoutEmails } from "./without-emails.ts";

/** The least role that a route needs, and the scopes of tokens that open it, too. */
export type Access = { role: Role; scopes: readonly TokenScope[] };

/**
 * Routes marked `{ access }` accept whoever has at least this role, or a token with one of these scopes; the check is bound to the
 * route, never to a path. They get who asks as `viewer`, and as `origin` for the audit log, and answer with the request id in
 * `x-request-id`.
 */
export const access = (deps: ViewerDeps) =>
  new Elysia({ name: "plugin.access" }).macro({
    access: ({ role: least, scopes }: Access) => ({
      async resolve({ request, set }) {
        const found = await identify(deps, request);
        if (found.cookie) set.headers["set-cookie"] = found.cookie;
        const requestId = requestIdOf(request);
        set.headers["x-request-id"] = requestId;
        const viewer = withScope(found, scopes);
        if (!includesRole(viewer.role, least)) throw new GatewayError("role_not_allowed");
        const address = deps.refusals.addressOf(request);
        const origin: Origin = { actor: viewer.actor, address, requestId, at: deps.clock.now() };
        return { viewer, origin };
      },
      async afterHandle({ viewer, responseValue: it }: { viewer?: Viewer; responseValue: unknown }) {
        if (!viewer?.masksEmails) return undefined;
        const answer = it instanceof Response ? it : Response.json(it);
        // Some statuses have no body.
        if (answer.body === null) return answer;
        return new Response(withoutEmails(await answer.text(), deps.cookieSecret), answer);
      },
    }),
  });
