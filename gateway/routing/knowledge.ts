import type { Call, SurfaceName, WireName } from "../call.ts";
import type { Provider, Route } from "../directory.ts";

/** What routing reads of a call. */
export type RoutedCall = Pick<Call, "surface" | "key" | "headers" | "body" | "model" | "routeMember">;

/** What routing must be told about the tables that it does not read itself. */
export type RoutingKnowledge = {
  /** Whether the price list has the model for the provider's kind. */
  knowsModel(provider: Provider, model: string): boolean;
  /** Whether the provider takes that format as it is; some take several. */
  speaks(provider: Provider, wire: WireName): boolean;
  /** The format of the provider's that a call of the surface can be translated into; null where there is none. */
  translated(provider: Provider, surface: SurfaceName): WireName | null;
  /** Chooses for `auto`; null where nothing classifies, then the default route answers. */
  classify: Classify | null;
};

/**
 * Chooses among the routes that the key may use on the surface. `default` says that none was good enough and the
 * default route, or what stands in for it, answers. Null is no opinion.
 */
export type Classify = (
  call: RoutedCall,
  offered: readonly Route[],
) => { route: Route; source: "classifier" | "default" } | null;
