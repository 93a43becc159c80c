import { RouteBody, RouteName, RoutePatch, RoutePut, RouteView } from "#shared/admin/routes.ts";
import {
  deleteRoute,
  newRoute,
  patchedRoute,
  type RouteRow,
  routeRows,
  writeRoute,
} from "../stores/routes.ts";
import type { AdminDeps } from "./deps.ts";
import { namedResource } from "./named-resource.ts";

/** `/admin/v1/routes`: named kinds of task, and the model behind each. */
export const adminRoutes = (deps: AdminDeps) =>
  namedResource(deps, {
    path: "routes",
    tag: "routes",
    nouns: { one: "a route", many: "routes" },
    schemas: { name: RouteName, body: RouteBody, put: RoutePut, patch: RoutePatch, view: RouteView },
    store: { ...routeRows, write: writeRoute, remove: deleteRoute },
    made: ({ name, body, now }) => newRoute(name, body, now),
    patched: ({ current, body, now }) => patchedRoute(current, body, now),
    view: viewOf,
  });

const viewOf = (row: RouteRow): RouteView => ({
  name: row.name,
  surface: row.surface,
  provider: row.provider,
  model: row.model,
  fallbacks: row.fallbacks,
  description: row.description,
  examples: row.examples,
  keywords: row.keywords,
  guardrails: row.guardrails,
  body_capture: row.bodyCapture,
  subscription_passthrough: row.subscriptionPassthrough,
  usage_chunk: row.usageChunk,
  on_client_gone: row.onClientGone,
  refuse_with: row.refuseWith,
  enabled: row.enabled,
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});
