import type { Call } from "../call.ts";
import type { Provider } from "../directory.ts";
import type { SurfaceName, WireName } from "../surface-facts.ts";
import type { AutoCandidates, AutoChoice } from "./auto.ts";

export type RoutedCall = Pick<
  Call,
  "surface" | "key" | "headers" | "body" | "model" | "routeMember" | "vendor" | "socket"
>;

export type RoutingLookups = {
  /** Whether the price list has the model for the provider's kind. */
  knowsModel(provider: Provider, model: string): boolean;
  /** Whether the provider has the surface itself for the model, without translation. */
  supports(provider: Provider, surface: SurfaceName, model: string | null): boolean;
  /** Whether the model's name is one that only the provider's vendor gives; and whether any vendor does. */
  namesModel(provider: Provider, model: string): boolean;
  hasVendor(model: string): boolean;
  /** Whether the provider can be called at its vendor's own host. */
  isVendors(provider: Provider): boolean;
  /** Whether the provider has what it needs to answer calls, such as its credential. */
  isReady(provider: Provider): boolean;
  /** Whether the provider's vendor invented the surface's format. */
  invented(provider: Provider, surface: SurfaceName): boolean;
  /** The provider's wire for the model that a call of the surface can be translated into; null if no wire fits. */
  translatableWire(provider: Provider, surface: SurfaceName, model: string | null): WireName | null;
  /** Chooses for `auto`; null without a classifier: the default route is used. */
  classify: Classify | null;
};

/** Chooses for `auto` among the routes that the key may use on the surface; null: undecided. */
export type Classify = (call: RoutedCall, offer: AutoCandidates) => AutoChoice | null;
