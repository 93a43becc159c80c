import type { Choice, Target } from "../call.ts";
import { GatewayError } from "../errors.ts";
import { SURFACES, type SurfaceName } from "../surface-facts.ts";
import type { RoutingLookups } from "./lookups.ts";
import type { Candidate, Targets } from "./targets.ts";

/**
 * The targets and the format that each is called in: the surface's own where the provider speaks it, because then the
 * bytes go as they came; else one that the call can be translated into. A fallback that takes neither is left out.
 * @throws GatewayError invalid_request when the first choice takes neither.
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
  const spoken = (candidate: Candidate): Target | null => {
    const spokenWire = speaks(candidate.provider, wire) ? wire : translated(candidate.provider, surface);
    return spokenWire && { ...candidate, wire: spokenWire };
  };
  const target = spoken(first);
  if (!target) {
    throw new GatewayError(
      "invalid_request",
      `The route's provider speaks another format than ${path}, and the call cannot be translated into it.`,
    );
  }
  return [target, ...fallbacks.flatMap((fallback) => spoken(fallback) ?? [])];
}
