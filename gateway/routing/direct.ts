import { matchesGlob } from "#shared/glob.ts";
import type { Target } from "../call.ts";
import type { Directory, Provider, Route } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import type { SurfaceName } from "../surface-facts.ts";
import type { RoutedCall, RoutingLookups } from "./lookups.ts";
import { cachedPerDirectory } from "./per-directory.ts";
import { allowsRoute } from "./scope.ts";
import { knownTargets, pairingRoutes, switchedOn, type Targets } from "./targets.ts";

export type DirectRequest = {
  directory: Directory;
  call: Pick<RoutedCall, "surface" | "key">;
  model: string;
  knowledge: Omit<RoutingLookups, "classify">;
};

export type Destination = { route: Route | null; targets: Targets };

/**
 * Targets for a concrete model. Providers in order of preference: one that a route of the surface pairs with the model,
 * one whose `models` list matches, one whose kind has it in the price list, its vendor's own; of several that match, its
 * vendor's own comes first. The client is promised that very model, so only fallbacks to the same model are kept.
 * @throws GatewayError model_not_found
 */
export function directDestination(request: DirectRequest): Destination {
  const served = knownDestination(request) ?? unknownDestination(request);
  if (served) return served;
  throw new GatewayError("model_not_found");
}

/** Like `directDestination`; null if no provider is known to serve the model. */
export function knownDestination(request: DirectRequest): Destination | null {
  const paired = pairings(request);
  const best = paired.find(({ targets }) => targets[0].provider.enabled);
  if (best) return best;
  const provider = servingProvider(request);
  if (provider) return { route: null, targets: [{ provider, model: request.model }] };
  const [switchedOff] = paired;
  return switchedOff ?? null;
}

type Pairing = { route: Route; targets: Targets };

/** The routes that pair the model with a provider, best first. */
function pairings(request: DirectRequest): readonly Pairing[] {
  const { directory, call, model } = request;
  const all = pairingsOn(directory, call.surface).get(model) ?? [];
  return all.length > 1 ? all.toSorted((a, b) => rank(request, a) - rank(request, b)) : all;
}

const pairingsBySurface = cachedPerDirectory(
  () => new Map<SurfaceName, ReadonlyMap<string | null, readonly Pairing[]>>(),
);

/** By model: the routes that pair it with a provider on a surface, sorted by name. */
function pairingsOn(
  directory: Directory,
  surface: SurfaceName,
): ReadonlyMap<string | null, readonly Pairing[]> {
  const bySurface = pairingsBySurface(directory);
  const known = bySurface.get(surface);
  if (known) return known;
  const all = pairingRoutes(directory, surface).flatMap((route) => pairingsOf(directory, route));
  const byModel = Map.groupBy(all, ({ targets }) => targets[0].model);
  bySurface.set(surface, byModel);
  return byModel;
}

function pairingsOf(directory: Directory, route: Route): Pairing[] {
  const byModel = Map.groupBy(knownTargets(directory, route), ({ model }) => model);
  return [...byModel.values()].flatMap((same): Pairing[] => {
    const [first, ...fallbacks] = switchedOn(same);
    return first ? [{ route, targets: [first, ...fallbacks] }] : [];
  });
}

/**
 * Lower is better. First, a route within the key's scopes, so that a key is not refused because of a route it may not
 * use; then a route whose own model this is, not a fallback's; then a provider with native support for the surface.
 * Ties are broken by name.
 */
function rank({ call, model, knowledge }: DirectRequest, { route, targets }: Pairing): number {
  return (
    (allowsRoute(call.key, route.name) ? 0 : 4) +
    (route.model === model ? 0 : 2) +
    (isNative({ call, model, knowledge }, targets[0]) ? 0 : 1)
  );
}

type Asked = Pick<DirectRequest, "call" | "model" | "knowledge">;

const isNative = ({ call, model, knowledge }: Asked, { provider }: Pick<Target, "provider">) =>
  knowledge.supports(provider, call.surface, model);

/** Those that can take the call, with native support first. */
function ableOf({ call, model, knowledge }: Asked, candidates: readonly Provider[]) {
  const native = candidates.filter((provider) => isNative({ call, model, knowledge }, { provider }));
  const translated = candidates.filter(
    (provider) =>
      !native.includes(provider) && knowledge.translatableWire(provider, call.surface, model) !== null,
  );
  return { native, able: [...native, ...translated] };
}

/**
 * A model that no one is known to serve goes to its vendor: to the provider at the vendor's own host whose kind names
 * its models so, or, for a name that no vendor gives, to that provider if no other supports the surface (decision:
 * Unknown models go to their vendor). Null if there is none.
 */
export function unknownDestination(request: DirectRequest): Destination | null {
  const { directory, model, knowledge } = request;
  const vendors = providersByName(directory).filter(({ kind }) => kind !== "echo");
  const { native, able } = ableOf(request, vendors);
  const [sole, another] = knowledge.hasVendor(model) ? [] : native;
  const named = able.find(
    (provider) => knowledge.isVendors(provider) && knowledge.namesModel(provider, model),
  );
  const provider = named ?? (another ? undefined : sole);
  return provider && knowledge.isVendors(provider) ? { route: null, targets: [{ provider, model }] } : null;
}

const providersByName = cachedPerDirectory(({ providers }) =>
  [...providers.values()].filter(({ enabled }) => enabled).sort((a, b) => (a.name < b.name ? -1 : 1)),
);

/** Clients choose the model names, so the cache is bounded. */
const SERVING_KEPT_MAX = 4096;
const servingProviders = cachedPerDirectory(() => new Map<string, Provider | null>());

/** `bestProvider`, cached per directory. */
function servingProvider(request: DirectRequest): Provider | null {
  const cache = servingProviders(request.directory);
  const name = `${request.call.surface} ${request.model}`;
  const known = cache.get(name);
  if (known !== undefined) return known;
  const provider = bestProvider(request);
  if (cache.size >= SERVING_KEPT_MAX) cache.clear();
  cache.set(name, provider);
  return provider;
}

/** Who serves a model: one that can answer, whose list has it, its vendor's own, native support, then by name. */
function bestProvider(request: DirectRequest): Provider | null {
  const { directory, model, knowledge } = request;
  const enabled = providersByName(directory);
  const best = (candidates: Provider[]) => {
    const { native, able } = ableOf(request, candidates);
    const own = able.find((provider) => knowledge.namesModel(provider, model));
    return own ?? native[0] ?? candidates[0] ?? null;
  };
  const listing = enabled.filter(({ models }) => models?.some((glob) => matchesGlob(glob, model)));
  const pricing = enabled.filter((provider) => knowledge.knowsModel(provider, model));
  const ready = [listing, pricing].map((all) => all.filter(knowledge.isReady));
  return [...ready, listing, pricing].map(best).find((provider) => provider !== null) ?? null;
}
