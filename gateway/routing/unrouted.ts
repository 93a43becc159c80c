import type { Directory, Provider } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { SURFACES, surfaceFacts } from "../surface-facts.ts";
import { type Destination, knownDestination } from "./direct.ts";
import type { RoutedCall, RoutingLookups } from "./lookups.ts";

type UnroutedRequest = {
  directory: Directory;
  call: Pick<RoutedCall, "surface" | "key">;
  model: string | null;
  knowledge: Pick<RoutingLookups, "knowsModel" | "supportsWire">;
};

/**
 * Targets on a surface without routes: the provider known to serve the concrete model. A call without a model, or with
 * an unknown one, goes to the only provider for the surface (decision: `auto` exists only where text decides).
 * @throws GatewayError invalid_request for `auto`, for a route's name, or if several providers support the surface;
 * model_not_found if none does.
 */
export function unroutedDestination(request: UnroutedRequest): Destination {
  const { model } = request;
  if (model === "auto") throw notRouted();
  const known = model === null ? null : knownDestination({ ...request, model });
  if (known) return known;
  if (model !== null && request.directory.routes.has(model)) throw notRouted();
  return { route: null, targets: [{ provider: onlyProvider(request), model }] };
}

const notRouted = (): GatewayError =>
  new GatewayError("invalid_request", "This surface is not routed. Name a concrete model.");

/** Never the built-in echo provider: a client that names no model does not mean that one. */
function onlyProvider({ directory, call, knowledge }: UnroutedRequest): Provider {
  const { wire } = SURFACES[call.surface];
  const candidates = [...directory.providers.values()].filter(
    (provider) => provider.enabled && provider.kind !== "echo" && knowledge.supportsWire(provider, wire),
  );
  const [only, another] = candidates;
  if (!only) throw new GatewayError("model_not_found");
  if (another) {
    const hint = surfaceFacts(call.surface).form ? ", before the file if it is sent as a form" : "";
    throw new GatewayError(
      "invalid_request",
      `Several providers could answer this surface. Name a model that one of them serves${hint}.`,
    );
  }
  return only;
}
