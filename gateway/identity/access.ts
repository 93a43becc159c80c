import { Elysia } from "elysia";
import { includesRole, type Role } from "#shared/admin/people.ts";
import { newId } from "#shared/ids.ts";
import { GatewayError } from "../errors.ts";
import type { Origin } from "../stores/audit.ts";
import { identify, type ViewerDeps } from "./viewer.ts";

/**
 * Routes marked `{ role }` accept whoever has at least this role; the check is bound to the route, never to a path. They
 * get who asks as `viewer`, and as `origin` for the audit log, and answer with the request id in `x-request-id`.
 */
export const access = (deps: ViewerDeps) =>
  new Elysia({ name: "plugin.access" }).macro({
    role: (least: Role) => ({
      async resolve({ request, set }) {
        const viewer = await identify(deps, request);
        if (viewer.cookie) set.headers["set-cookie"] = viewer.cookie;
        const requestId = newId();
        set.headers["x-request-id"] = requestId;
        if (!includesRole(viewer.role, least)) throw new GatewayError("role_not_allowed");
        const address = deps.refusals.addressOf(request);
        const origin: Origin = { actor: viewer.actor, address, requestId, at: deps.clock.now() };
        return { viewer, origin };
      },
    }),
  });
