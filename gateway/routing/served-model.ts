import { isModelName } from "#shared/labels.ts";
import type { ClientKey, Directory, Provider, Route } from "../directory.ts";
import { SURFACES, type SurfaceName } from "../surface-facts.ts";
import { type Destination, knownDestination, unknownDestination } from "./direct.ts";
import type { RoutingLookups } from "./lookups.ts";
import { allowsDestination } from "./scope.ts";
import { knownTargets, servingRoute, switchedOn } from "./targets.ts";

type ModelRequest = {
  directory: Directory;
  key: ClientKey;
  model: string;
  knowledge: Omit<RoutingLookups, "classify">;
};

/** Who would answer a model's calls on any surface; null: none, or not allowed. `route` null: no route has the pair. */
export function servedModel(request: ModelRequest): { provider: Provider; route: Route | null } | null {
  if (!isModelName(request.model)) return null;
  for (const surface of Object.keys(SURFACES)) {
    // The keys of SURFACES are the surfaces' names.
    const destination = destinationOn(surface as SurfaceName, request);
    const [target] = destination?.targets ?? [];
    if (destination && target?.provider.enabled && allowsDestination(request.key, destination)) {
      return { provider: target.provider, route: destination.route };
    }
  }
  return null;
}

export function destinationOn(
  surface: SurfaceName,
  { directory, key, model, knowledge }: ModelRequest,
): Destination | null {
  const route = servingRoute(directory, surface, model);
  if (!route) {
    const direct = { directory, call: { surface, key }, model, knowledge };
    return knownDestination(direct) ?? unknownDestination(direct);
  }
  const [first, ...rest] = switchedOn(knownTargets(directory, route));
  return first ? { route, targets: [first, ...rest] } : null;
}
