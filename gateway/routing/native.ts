import { SURFACES, type SurfaceName } from "../call.ts";
import { GatewayError } from "../errors.ts";
import type { RoutingKnowledge } from "./knowledge.ts";
import type { Targets } from "./targets.ts";

/**
 * The targets that speak the surface's own format: the only ones that its bytes can be sent to as they came. This is
 * the one place that keeps the others out.
 * @throws GatewayError invalid_request when the first choice speaks another format.
 */
export function nativeTargets(
  surface: SurfaceName,
  [first, ...fallbacks]: Targets,
  { speaks }: Pick<RoutingKnowledge, "speaks">,
): Targets {
  const { path, wire } = SURFACES[surface];
  if (!speaks(first.provider, wire)) {
    throw new GatewayError(
      "invalid_request",
      `The route's provider speaks another format than ${path}. Call it on a surface of its own format.`,
    );
  }
  return [first, ...fallbacks.filter(({ provider }) => speaks(provider, wire))];
}
