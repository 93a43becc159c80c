import type { Choice, Target } from "../call.ts";
import { GatewayError } from "../errors.ts";
import { SURFACES, type SurfaceName } from "../surface-facts.ts";
import type { RoutingLookups } from "./lookups.ts";
import type { Candidate, Targets } from "./targets.ts";

/**
 * The targets with the wire that each is called on: the surface's own if the provider supports it, so that the bytes pass
 * unchanged; else one that the call can be translated into. A fallback that supports neither is left out.
 * @throws GatewayError invalid_request if the first target supports neither.
 */
export function supportedTargets(
  surface: SurfaceName,
  [first, ...fallbacks]: Targets,
  {
    supportsWire: speaks,
    translatableWire: translated,
  }: Pick<RoutingLookups, "supportsWire" | "translatableWire">,
): Choice["targets"] {
  const { path, wire } = SURFACES[surface];
  const onWire = (candidate: Candidate): Target | null => {
    const targetWire = speaks(candidate.provider, wire) ? wire : translated(candidate.provider, surface);
    return targetWire && { ...candidate, wire: targetWire };
  };
  const target = onWire(first);
  if (!target) {
    throw new GatewayError(
      "invalid_request",
      `The route's provider uses another format than ${path}, and the call cannot be translated into it.`,
    );
  }
  return [target, ...fallbacks.flatMap((fallback) => onWire(fallback) ?? [])];
}
