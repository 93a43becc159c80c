import type { ClientKey, Directory, Route } from "../directory.ts";
import type { SurfaceName } from "../surface-facts.ts";
import { inScope, usableRoutes } from "./scope.ts";
import { servingRoute, servingRoutes } from "./targets.ts";

export type AutoCandidates = {
  /** The surface's routes that the key may use, sorted by name. */
  routes: readonly Route[];
  /** The default route, if it serves the surface and the key may use it. */
  standard: Route | null;
};

/** A classifier's result: `route` is null below the threshold; `best` is the likeliest allowed route regardless. */
export type RouteVerdict = { route: string | null; best: string | null };

/** The route chosen by `auto`. `default`: no route reached the threshold, or nothing was classified. */
export type AutoChoice = {
  route: Route;
  source: "classifier" | "default";
  /** The classifier that was consulted; null if none was. */
  version: string | null;
};

type CandidatesRequest = { directory: Directory; surface: SurfaceName; key: ClientKey };

export function autoCandidates({ directory, surface, key }: CandidatesRequest): AutoCandidates {
  const usable = new Set(usableRoutes(directory, key));
  const defaultRoute = servingRoute(directory, surface, directory.settings.default_route);
  return {
    routes: servingRoutes(directory, surface).filter((route) => usable.has(route)),
    standard: defaultRoute && inScope(directory, key, defaultRoute) ? defaultRoute : null,
  };
}

export const routeNames = ({ routes }: AutoCandidates): ReadonlySet<string> =>
  new Set(routes.map(({ name }) => name));

/**
 * The route for a verdict (null: nothing was classified). Below the threshold it is the default route or, if the key
 * may not use that, the likeliest route it may use. Null if there is neither.
 */
export function autoChoice(
  offer: AutoCandidates,
  verdict: RouteVerdict | null,
  version: string | null,
): AutoChoice | null {
  const named = (wanted: string | null | undefined) =>
    offer.routes.find(({ name }) => name === wanted) ?? null;
  const certain = named(verdict?.route);
  if (certain) return { route: certain, source: "classifier", version };
  const route = offer.standard ?? named(verdict?.best) ?? offer.routes[0];
  return route ? { route, source: "default", version } : null;
}
