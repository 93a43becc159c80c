import { isModelName } from "#shared/labels.ts";
import type { Choice, RouteSource, VendorAddress } from "../call.ts";
import type { Directory, Route } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { surfaceFacts } from "../surface-facts.ts";
import { autoCandidates } from "./auto.ts";
import { type Destination, directDestination } from "./direct.ts";
import type { RoutedCall, RoutingLookups } from "./lookups.ts";
import { routeTargets, servingRoute } from "./targets.ts";
import { unroutedDestination } from "./unrouted.ts";
import { supportedTargets } from "./wire-support.ts";

/** The `model` that lets the gateway choose the route. */
const AUTO = "auto";

/** Recorded as the route of a concrete model that no route covers. */
const DIRECT = "(direct)";

/**
 * Chooses the targets of a call. `x-task-type` takes precedence over the body's `route`, and that over `model`; a
 * route's name wins over a model of the same name.
 * @throws GatewayError unknown_route for a hint that is not a route of the surface; model_not_found;
 * provider_unconfigured if none of the route's providers exists; invalid_request if the provider does not support the
 * surface's format and the call cannot be translated.
 */
export function chooseRoute(directory: Directory, call: RoutedCall, knowledge: RoutingLookups): Choice {
  if (call.socket?.choice) return call.socket.choice;
  if (call.vendor) return vendorChoice(call.vendor, call.model);
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

/** The address names its provider itself. */
const vendorChoice = ({ provider, wire }: VendorAddress, model: string | null): Choice => ({
  route: null,
  routeName: DIRECT,
  source: "direct",
  targets: [{ provider, model, wire }],
  channel: "api",
});

type Sourced = Destination & { source: RouteSource; version?: string | null };

function destination(directory: Directory, call: RoutedCall, knowledge: RoutingLookups): Sourced {
  const viaRoute = (route: Route, source: RouteSource): Sourced => ({
    route,
    targets: routeTargets(directory, route),
    source,
  });
  const hint = hintOf(call);
  if (hint !== null) return viaRoute(hintedRoute(directory, call, hint), "hint");
  const { model } = call;
  // A provider might accept it, but the call could not be recorded.
  if (model !== null && !isModelName(model)) throw new GatewayError("model_not_found");
  if (surfaceFacts(call.surface).routeSurface === null) {
    return { ...unroutedDestination({ directory, call, model, knowledge }), source: "direct" };
  }
  if (model === null || model === AUTO) {
    const { route, source, version } = automatic(directory, call, knowledge);
    return { ...viaRoute(route, source), version };
  }
  const named = servingRoute(directory, call.surface, model);
  if (named) return viaRoute(named, "model");
  return { ...directDestination({ directory, call, model, knowledge }), source: "direct" };
}

/** An empty hint counts as none. */
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
 * The fixed route of a surface without text to classify; null on other surfaces.
 * @throws GatewayError model_not_found if an administrator has deleted or disabled it.
 */
function fixedRoute(directory: Directory, { surface }: RoutedCall): Route | null {
  const { fixedRoute: name } = surfaceFacts(surface);
  if (name === undefined) return null;
  const route = servingRoute(directory, surface, name);
  if (route) return route;
  throw new GatewayError("model_not_found", `No route ${name} serves this surface. Name a route or a model.`);
}
