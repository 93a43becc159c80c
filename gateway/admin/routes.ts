import { RouteBody, RoutePatch, RouteView } from "#shared/admin/routes.ts";
import { camelCased } from "#shared/case.ts";
import { viewAs } from "#shared/view-as.ts";
import { deleteRoute, newRoute, routeRows, writeRoute } from "../stores/routes.ts";
import { patchedRow } from "../stores/rows.ts";
import type { AdminDeps } from "./deps.ts";
import { namedResource } from "./named-resource.ts";

/** `/admin/v1/routes`: named kinds of task, and the model for each. */
export const adminRoutes = (deps: AdminDeps) =>
  namedResource(deps, {
    path: "routes",
    tag: "routes",
    nouns: { one: "a route", many: "routes" },
    schemas: { body: RouteBody, patch: RoutePatch, view: RouteView },
    store: { ...routeRows, write: writeRoute, remove: deleteRoute },
    audit: {
      set: "route.set",
      deleted: "route.deleted",
      also: (before, after) => {
        const [was, is] = [before?.bodyCapture ?? false, after?.bodyCapture ?? false];
        return was === is ? [] : [is ? "body_capture.on" : "body_capture.off"];
      },
    },
    made: ({ name, body, now }) => newRoute(name, body, now),
    patched: ({ current, body, now }) => patchedRow(current, camelCased(body), now),
    view: (row) => viewAs(RouteView, row),
  });
