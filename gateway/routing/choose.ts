import { isModelName } from "#shared/labels.ts";
import type { Choice, RouteSource } from "../call.ts";
import type { Directory, Route } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { surfaceFacts } from "../surface-facts.ts";
import { autoCandidates } from "./auto.ts";
import { type Destination, directDestination } from "./direct.ts";
import type { RoutedCall, RoutingLookups } from "./lookups.ts";
import { routeTargets, servingRoute } from "./targets.ts";
import { unroutedDestination } from "./unrouted.ts";
import { supportedTargets } from "./wire-support.ts";

/** The `model` that leaves the choice of the route to the gateway. */
const AUTO = "auto";

/** Recorded as the route of a concrete model that no route pairs. */
const DIRECT = "(direct)";

/**
 * Where a call goes: `x-task-type` before the body's `route` before its `model` (decision: How a call names its route). A route's name
 * wins over a model of the same name.
 * @throws GatewayError unknown_route for a hint that names nothing or does not serve the surface; model_not_found;
 * provider_unconfigured when none of the route's providers exists; invalid_request when the provider speaks another
 * format than the surface and the call cannot be translated.
 */
export function chooseRoute(directory: Directory, call: RoutedCall, knowledge: RoutingLookups): Choice {
  const { route, targets, source, version } = destination(directory, call, knowledge);
  return {
    route,
    routeName: route?.name ?? DIRECT,
    source,
    classifierVersion: version ?? null,
    targets: supportedTargets(call.surface, targets, knowledge),
    channel: "api",
  };
}

type Sourced = Destination & { source: RouteSource; version?: string | null };

function destination(directory: Directory, call: RoutedCall, knowledge: RoutingLookups): Sourced {
  const along = (route: Route, source: RouteSource): Sourced => ({
    route,
    targets: routeTargets(directory, route),
    source,
  });
  const hint = hintOf(call);
  if (hint !== null) return along(hintedRoute(directory, call, hint), "hint");
  const { model } = call;
  // The provider might take it, but a call with it could not be recorded.
  if (model !== null && !isModelName(model)) throw new GatewayError("model_not_found");
  if (surfaceFacts(call.surface).routeSurface === null) {
    return { ...unroutedDestination({ directory, call, model, knowledge }), source: "direct" };
  }
  if (model === null || model === AUTO) {
    const { route, source, version } = automatic(directory, call, knowledge);
    return { ...along(route, source), version };
  }
  const named = servingRoute(directory, call.surface, model);
  if (named) return along(named, "model");
  return { ...directDestination({ directory, call, model, knowledge }), source: "direct" };
}

/** An empty hint is none. */
const hintOf = ({ headers, routeMember }: RoutedCall): string | null =>
  headers.get("x-task-type")?.trim() || routeMember || null;

function hintedRoute(directory: Directory, call: RoutedCall, hint: string): Route {
  const route = servingRoute(directory, call.surface, hint);
  if (!route) throw new GatewayError("unknown_route");
  return route;
}

function automatic(
  directory: Directory,
  call: RoutedCall,
  { classify }: RoutingLookups,
): { route: Route; source: RouteSource; version: string | null } {
  const fixed = fixedRoute(directory, call);
  if (fixed) return { route: fixed, source: "fixed", version: null };
  const { surface, key } = call;
  const classified = classify?.(call, autoCandidates({ directory, surface, key }));
  if (classified) return classified;
  const route = servingRoute(directory, surface, directory.settings.default_route);
  if (route) return { route, source: "default", version: null };
  throw new GatewayError(
    "model_not_found",
    "The default route does not serve this surface. Name a route or a model.",
  );
}

/**
 * The route of a surface that has no text to classify; null on one that has.
 * @throws GatewayError model_not_found where an administrator has deleted it or switched it off.
 */
function fixedRoute(directory: Directory, { surface }: RoutedCall): Route | null {
  const { fixedRoute: name } = surfaceFacts(surface);
  if (name === undefined) return null;
  const route = servingRoute(directory, surface, name);
  if (route) return route;
  throw new GatewayError("model_not_found", `No route ${name} serves this surface. Name a route or a model.`);
}
