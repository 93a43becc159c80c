import type { Choice } from "../call.ts";
import type { ClientKey, Directory, Route } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { knownTargets, switchedOn } from "./targets.ts";

/** Models that a call asks for besides the one that it is routed by; null: one that the provider chooses. */
type ModelsBeside = () => readonly (string | null)[];

/**
 * Refuses a choice outside the key's scope. An absent list is unlimited; of several present all must hold. Routes and
 * models are named exactly; models are the concrete ones that may be called, fallbacks included (decision: Scopes apply to the model that is really called).
 * A concrete model that no route pairs is no route, so a key with a list of routes may not use it. What the call asks for
 * `beside` is asked for too: with a list of routes alone, it must be a model of the chosen route.
 * @throws GatewayError route_not_allowed, model_not_allowed
 */
export function requireScope(key: ClientKey, choice: Choice, beside: ModelsBeside): void {
  const { routes, models: listed } = key.scopes;
  if (!routes && !listed) return;
  if (!allowsRoute(key, choice.route?.name ?? null)) throw new GatewayError("route_not_allowed");
  const models = choice.targets.map(({ model }) => model);
  const others = beside();
  const isOpen = allowsModels(key, [...models, ...others]);
  if (!isOpen || (!listed && others.some((model) => !models.includes(model)))) {
    throw new GatewayError("model_not_allowed");
  }
}

/** The routes that a key may use and that somebody serves, in the order of their names. */
export const usableRoutes = (directory: Directory, key: ClientKey): Route[] =>
  [...directory.routes.values()]
    .filter((route) => route.enabled && isUsable(directory, key, route))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

function isUsable(directory: Directory, key: ClientKey, route: Route): boolean {
  const served = knownTargets(directory, route).filter(({ provider }) => provider.enabled);
  const models = served.map(({ model }) => model);
  return served.length > 0 && allowsRoute(key, route.name) && allowsModels(key, models);
}

/** Whether the key may use a route, whether or not somebody serves it just now. */
export const inScope = (directory: Directory, key: ClientKey, route: Route): boolean =>
  allowsRoute(key, route.name) &&
  allowsModels(
    key,
    switchedOn(knownTargets(directory, route)).map(({ model }) => model),
  );

export const allowsRoute = ({ scopes }: ClientKey, name: string | null): boolean =>
  scopes.routes === undefined || (name !== null && scopes.routes.includes(name));

/** A call that names no model is none that a list of models allows. */
const allowsModels = ({ scopes }: ClientKey, models: readonly (string | null)[]): boolean => {
  const { models: allowed } = scopes;
  return allowed === undefined || models.every((model) => model !== null && allowed.includes(model));
};
