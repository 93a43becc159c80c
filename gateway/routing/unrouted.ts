import type { Directory, Provider } from "../directory.ts";
import { GatewayError, refuse } from "../errors.ts";
import { surfaceFacts } from "../surface-facts.ts";
import { type Destination, knownDestination, unknownDestination } from "./direct.ts";
import type { RoutedCall, RoutingLookups } from "./lookups.ts";

type UnroutedRequest = {
  directory: Directory;
  call: Pick<RoutedCall, "surface" | "key">;
  model: string | null;
  knowledge: Omit<RoutingLookups, "classify">;
};

/**
 * Targets on a surface without routes: the provider known to serve the concrete model, or its vendor. A call without a
 * model, or with an unknown one, goes to the surface's own provider.
 * @throws GatewayError invalid_request for `auto`, for a route's name, or if several providers support the surface;
 * model_not_found if none does.
 */
export function unroutedDestination(request: UnroutedRequest): Destination {
  const { model } = request;
  if (model === "auto") throw notRouted();
  const named = model === null ? null : { ...request, model };
  const known = named && knownDestination(named);
  if (known) return known;
  if (model !== null && request.directory.routes.has(model)) throw notRouted();
  const vendor = named && unknownDestination(named);
  return vendor ?? { route: null, targets: [{ provider: ownProvider(request), model }] };
}

const notRouted = (): GatewayError =>
  new GatewayError("invalid_request", "This surface is not routed. Name a concrete model.");

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
