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
 * Where a call goes on a surface that no route can be named on: to whoever is known to serve the concrete model. A model
 * that nobody is known to serve, or none, goes to the only provider that could answer (decision: `auto` exists only where text decides).
 * @throws GatewayError invalid_request for `auto`, for a route's name, and where several providers could answer; model_not_found for none.
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

/** Never the built-in provider: nobody who names no model means one that answers without looking. */
function onlyProvider({ directory, call, knowledge }: UnroutedRequest): Provider {
  const { wire } = SURFACES[call.surface];
  const able = [...directory.providers.values()].filter(
    (provider) => provider.enabled && provider.kind !== "echo" && knowledge.supportsWire(provider, wire),
  );
  const [only, another] = able;
  if (!only) throw new GatewayError("model_not_found");
  if (another) {
    const place = surfaceFacts(call.surface).form ? ", before the file if it is sent as a form" : "";
    throw new GatewayError(
      "invalid_request",
      `Several providers could answer this surface. Name a model that one of them serves${place}.`,
    );
  }
  return only;
}
