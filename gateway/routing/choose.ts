import { isModelName } from "#shared/labels.ts";
import type { Choice, RouteSource, Target, VendorAddress } from "../call.ts";
import type { Directory, Provider, Route } from "../directory.ts";
import { GatewayError, refuse } from "../errors.ts";
import { SURFACES, type SurfaceName, surfaceFacts } from "../surface-facts.ts";
import { autoCandidates } from "./auto.ts";
import {
  type Destination,
  type DirectRequest,
  directDestination,
  knownDestination,
  unknownDestination,
} from "./direct.ts";
import type { RoutedCall, RoutingLookups } from "./lookups.ts";
import { type Candidate, routeTargets, servingRoute, type Targets } from "./targets.ts";

/** The `model` that lets the gateway choose the route. */
export const AUTO = "auto";

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

/** A surface's fixed route; null elsewhere. @throws GatewayError model_not_found if it was deleted or disabled. */
function fixedRoute(directory: Directory, { surface }: RoutedCall): Route | null {
  const { fixedRoute: name } = surfaceFacts(surface);
  if (name === undefined) return null;
  const route = servingRoute(directory, surface, name);
  if (route) return route;
  throw new GatewayError("model_not_found", `No route ${name} serves this surface. Name a route or a model.`);
}

/**
 * Adds to each target the wire to use: the surface's own if the provider supports it, so that the bytes pass unchanged;
 * else one that the call can be translated into. Targets that support neither are dropped.
 * @throws GatewayError invalid_request if none is left.
 */
function supportedTargets(
  surface: SurfaceName,
  candidates: Targets,
  { supports, translatableWire }: Pick<RoutingLookups, "supports" | "translatableWire">,
): Choice["targets"] {
  const { path, wire } = SURFACES[surface];
  const onWire = (candidate: Candidate): Target | null => {
    const { provider, model } = candidate;
    const targetWire = supports(provider, surface, model) ? wire : translatableWire(provider, surface, model);
    return targetWire && { ...candidate, wire: targetWire };
  };
  const [target, ...fallbacks] = candidates.flatMap((candidate) => onWire(candidate) ?? []);
  if (!target)
    refuse(
      `The route's provider uses another format than ${path}, and the call cannot be translated into it.`,
    );
  return [target, ...fallbacks];
}

type UnroutedRequest = Omit<DirectRequest, "model"> & { model: string | null };

/**
 * Targets on a surface without routes: the provider known to serve the concrete model, or its vendor. A call without a
 * model, or with an unknown one, goes to the surface's own provider.
 * @throws GatewayError invalid_request for `auto`, for a route's name, or if several providers support the surface;
 * model_not_found if none does.
 */
function unroutedDestination(request: UnroutedRequest): Destination {
  const { model } = request;
  if (model === AUTO) throw notRouted();
  const named = model === null ? null : { ...request, model };
  const known = named && knownDestination(named);
  if (known) return known;
  if (model !== null && request.directory.routes.has(model)) throw notRouted();
  const vendor = named && unknownDestination(named);
  return vendor ?? { route: null, targets: [{ provider: ownProvider(request), model }] };
}

const notRouted = (): GatewayError =>
  new GatewayError("invalid_request", "This surface has no routes. Name a concrete model.");

/**
 * The surface's provider: the one that is set as its default, else the only one of the vendor that invented the format,
 * else the only one. Never the built-in echo provider: a client that names no model does not mean that one.
 */
function ownProvider({ directory, call: { surface }, knowledge }: UnroutedRequest): Provider {
  const able = [...directory.providers.values()].filter(
    (provider) => provider.enabled && provider.kind !== "echo" && knowledge.supports(provider, surface, null),
  );
  if (able.length === 0) throw new GatewayError("model_not_found");
  const only = [
    able.filter(({ defaultFor }) => defaultFor.includes(surface)),
    able.filter((provider) => knowledge.invented(provider, surface)),
    able,
  ].find(({ length }) => length > 0);
  const [provider, another] = only ?? [];
  if (provider && !another) return provider;
  const hint = surfaceFacts(surface).form ? ", before the file if it is sent as a form" : "";
  refuse(
    `Several providers could answer this surface. Name a model that one of them serves${hint}, or make one of them the default: its \`default_for\` lists \`${surface}\`.`,
  );
}
