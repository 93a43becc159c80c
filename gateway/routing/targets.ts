import type { Target } from "../call.ts";
import type { Directory, Route } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { type SurfaceName, surfaceFacts } from "../surface-facts.ts";
import { cachedPerDirectory } from "./per-directory.ts";

/** A target before it is settled in which format it is called. */
export type Candidate = Pick<Target, "provider" | "model">;
export type Targets = readonly [Candidate, ...Candidate[]];

const byName = (a: Route, b: Route): number => (a.name < b.name ? -1 : 1);

const routesByName = cachedPerDirectory(({ routes }) => [...routes.values()].sort(byName));

/** The routes that can answer a surface, in the order of their names. */
export const servingRoutes = (directory: Directory, surface: SurfaceName): Route[] =>
  routesByName(directory).filter((route) => serves(route, surface));

/** The routes whose pairing of a model with a provider holds on a surface: its own; where it has none, every one. */
export const pairingRoutes = (directory: Directory, surface: SurfaceName): Route[] =>
  surfaceFacts(surface).routeSurface === null
    ? routesByName(directory).filter(({ enabled }) => enabled)
    : servingRoutes(directory, surface);

/** The route of that name, if it is switched on and can answer the surface. */
export function servingRoute(directory: Directory, surface: SurfaceName, name: string): Route | null {
  const route = directory.routes.get(name);
  return route && serves(route, surface) ? route : null;
}

const serves = (route: Route, surface: SurfaceName): boolean =>
  route.enabled && route.surface === surfaceFacts(surface).routeSurface;

/** The route's own target, then its fallbacks, as far as their providers exist. */
export const knownTargets = (directory: Directory, route: Route): Candidate[] =>
  [route, ...route.fallbacks].flatMap(({ provider: name, model }) => {
    const provider = directory.providers.get(name);
    return provider ? [{ provider, model }] : [];
  });

/**
 * Those whose provider is switched on. When none is, the first alone: a call that resolved is one that is recorded, so
 * it is the sender who refuses it.
 */
export function switchedOn(targets: readonly Candidate[]): Candidate[] {
  const on = targets.filter(({ provider }) => provider.enabled);
  return on.length > 0 ? on : targets.slice(0, 1);
}

/**
 * Where a route's calls go: first choice first.
 * @throws GatewayError provider_unconfigured when none of its providers exists.
 */
export function routeTargets(directory: Directory, route: Route): Targets {
  const [first, ...fallbacks] = switchedOn(knownTargets(directory, route));
  if (!first) throw new GatewayError("provider_unconfigured");
  return [first, ...fallbacks];
}
