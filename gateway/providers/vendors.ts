import type { Provider } from "../directory.ts";
import { SURFACES, type SurfaceName } from "../surface-facts.ts";
import { PROVIDERS } from "./catalog.ts";
import type { ProviderFacts } from "./provider-facts.ts";

// What follows from who made a model or a format (decision: Unknown models go to their vendor).

const facts = ({ kind }: Pick<Provider, "kind">): ProviderFacts => PROVIDERS[kind];
const ALL: readonly ProviderFacts[] = Object.values(PROVIDERS);

/** Whether the model's name is one that only the provider's vendor gives. */
const namesModel = (provider: Pick<Provider, "kind">, model: string): boolean =>
  facts(provider).modelNames?.test(model) === true;

const hasVendor = (model: string): boolean => ALL.some(({ modelNames }) => modelNames?.test(model));

/** Whether a provider can be called at its vendor's own host. */
function isVendors(provider: Pick<Provider, "kind" | "baseUrl" | "credential">): boolean {
  const { baseUrl } = facts(provider);
  if (baseUrl === null || provider.kind === "echo" || provider.credential === null) return false;
  return URL.parse(provider.baseUrl)?.host === URL.parse(baseUrl)?.host;
}

/** Whether a provider can answer calls: with its own credential, without one, or with the callers' subscriptions. */
const isReady = (provider: Provider): boolean =>
  provider.credential !== null ||
  facts(provider).auth === "none" ||
  provider.subscriptionPassthrough ||
  provider.subscriptionModels.length > 0;

/** Whether the provider's vendor invented the surface's format. */
const invented = (provider: Pick<Provider, "kind">, surface: SurfaceName): boolean =>
  facts(provider).inventorOf?.includes(SURFACES[surface].wire) === true;

/** The facts about vendors that routing asks for. */
export const VENDORS = { namesModel, hasVendor, isVendors, isReady, invented };
