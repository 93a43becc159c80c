import { Elysia } from "elysia";
import { BodyView } from "#shared/admin/bodies.ts";
import { GatewayError } from "../errors.ts";
import { access } from "../identity/access.ts";
import { readCapturedBody } from "../stores/bodies.ts";
import type { AdminDeps } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { idParameter } from "./parameters.ts";
import { viewAs } from "./view-as.ts";

const docs = adminRoute("records");

/** `/admin/v1/requests/{id}/body`: the captured bodies of a call; reading them is audited. */
export const adminBodies = (deps: AdminDeps) =>
  new Elysia({ name: "admin.bodies", prefix: "/requests" }).use(access(deps)).get(
    "/:id/body",
    async ({ params, origin }) => {
      const body = await readCapturedBody(deps, idParameter(params.id), origin);
      if (!body) throw new GatewayError("not_found");
      return viewAs(BodyView, body);
    },
    docs({
      summary: "Read the captured body of a call",
      description:
        "Only where the route has `body_capture`, and for seven days. That it was read is written into the audit.",
      answers: { 200: BodyView },
    }),
  );
