import type { Target } from "../call.ts";
import type { Directory, Provider, Route } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { type SurfaceName, surfaceFacts } from "../surface-facts.ts";
import { cachedPerDirectory } from "./per-directory.ts";

/** A target whose wire is not yet chosen. */
export type Candidate = Pick<Target, "provider" | "model" | "weight">;
export type Targets = readonly [Candidate, ...Candidate[]];

const byName = (a: Route, b: Route): number => (a.name < b.name ? -1 : 1);

const routesByName = cachedPerDirectory(({ routes }) => [...routes.values()].sort(byName));

/** The enabled routes of a surface, sorted by name. */
export const servingRoutes = (directory: Directory, surface: SurfaceName): Route[] =>
  routesByName(directory).filter((route) => serves(route, surface));

/** The routes whose model-provider pairs apply on a surface: its own; all of them if it has none. */
export const pairingRoutes = (directory: Directory, surface: SurfaceName): Route[] =>
  surfaceFacts(surface).routeSurface === null
    ? routesByName(directory).filter(({ enabled }) => enabled)
    : servingRoutes(directory, surface);

/** The route of that name, if it is enabled and serves the surface. */
export function servingRoute(directory: Directory, surface: SurfaceName, name: string): Route | null {
  const route = directory.routes.get(name);
  return route && serves(route, surface) ? route : null;
}

const serves = (route: Route, surface: SurfaceName): boolean =>
  route.enabled && route.surface === surfaceFacts(surface).routeSurface;

/** The route's own target and its fallbacks, without those whose provider does not exist. */
export const knownTargets = (directory: Directory, route: Route): Candidate[] =>
  [route, ...route.fallbacks].flatMap(({ provider: name, model, weight = null }) => {
    const provider = directory.providers.get(name);
    return provider ? [{ provider: withTimeouts(provider, route), model, weight }] : [];
  });

/** The provider with the route's own timeouts, where it has any. */
function withTimeouts(provider: Provider, { firstByteSeconds, idleSeconds }: Route): Provider {
  if (firstByteSeconds === null && idleSeconds === null) return provider;
  return {
    ...provider,
    firstByteMs: firstByteSeconds === null ? provider.firstByteMs : firstByteSeconds * 1000,
    idleMs: idleSeconds === null ? provider.idleMs : idleSeconds * 1000,
  };
}

/** Targets with an enabled provider; else the first: a routed call is recorded, so its sender refuses it. */
export function switchedOn(targets: readonly Candidate[]): Candidate[] {
  const on = targets.filter(({ provider }) => provider.enabled);
  return on.length > 0 ? on : targets.slice(0, 1);
}

/**
 * A route's targets, first choice first.
 * @throws GatewayError provider_unconfigured if none of its providers exists.
 */
export function routeTargets(directory: Directory, route: Route): Targets {
  const [first, ...fallbacks] = switchedOn(knownTargets(directory, route));
  if (!first) throw new GatewayError("provider_unconfigured");
  return [first, ...fallbacks];
}
