import type { Choice, Target } from "../call.ts";
import { refuse } from "../errors.ts";
import { SURFACES, type SurfaceName } from "../surface-facts.ts";
import type { RoutingLookups } from "./lookups.ts";
import type { Candidate, Targets } from "./targets.ts";

/**
 * Adds to each target the wire to use: the surface's own if the provider supports it, so that the bytes pass unchanged;
 * else one that the call can be translated into. Targets that support neither are dropped.
 * @throws GatewayError invalid_request if none is left.
 */
export function supportedTargets(
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
