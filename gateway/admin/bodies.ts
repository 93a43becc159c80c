import { Elysia } from "elysia";
import { BodyView } from "#shared/admin/bodies.ts";
import { GatewayError } from "../errors.ts";
import { adminKey } from "../plugins/admin-key.ts";
import { readBody } from "../stores/bodies.ts";
import type { AdminDeps } from "./deps.ts";
import { documented } from "./documented.ts";
import { requireId } from "./names.ts";

const docs = documented("records");

/** `/admin/v1/requests/{id}/body`: what was captured of a call; reading it is written into the audit. */
export const adminBodies = (deps: AdminDeps) =>
  new Elysia({ name: "admin.bodies", prefix: "/requests" }).use(adminKey(deps.isAdmin)).get(
    "/:id/body",
    async ({ params }): Promise<BodyView> => {
      const body = await readBody(deps, requireId(params.id));
      if (!body) throw new GatewayError("not_found");
      return {
        request_id: body.requestId,
        captured_at: body.capturedAt,
        expires_at: body.expiresAt,
        request: body.request,
        answer: body.answer,
      };
    },
    docs({
      summary: "Read the captured body of a call",
      description:
        "Only where the route has `body_capture`, and for seven days. That it was read is written into the audit.",
      answers: { 200: BodyView },
    }),
  );
