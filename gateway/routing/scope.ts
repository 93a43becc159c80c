import type { Choice } from "../call.ts";
import type { ClientKey, Directory, Route } from "../directory.ts";
import { ERRORS, GatewayError } from "../errors.ts";
import { knownTargets, switchedOn } from "./targets.ts";

/** Further models that a call requests besides the one it is routed by; null: the provider chooses. */
type AdditionalModels = () => readonly (string | null)[];

/**
 * Refuses a choice outside the key's scopes. An absent list allows everything; if both are present, both apply. Names
 * match exactly; models are the concrete ones, including fallbacks. A key with a list of routes may not use a model
 * that no route covers. Additional models are checked too: a key with only a list of routes may request no models but
 * those of the chosen route.
 * @throws GatewayError route_not_allowed, model_not_allowed; invalid_request for Claude Code's own sign-in
 */
export function requireScope(key: ClientKey, choice: Choice, additionalModels: AdditionalModels): void {
  const { routes, models: listed } = key.scopes;
  if (!routes && !listed) return;
  if (!allowsRoute(key, choice.route?.name ?? null)) throw notAllowed(key, "route_not_allowed");
  const models = choice.targets.map(({ model }) => model);
  const others = additionalModels();
  const isOpen = allowsModels(key, [...models, ...others]);
  if (!isOpen || (!listed && others.some((model) => !models.includes(model)))) {
    throw notAllowed(key, "model_not_allowed");
  }
}

/** Claude Code's protocol has 400 for a model that its signed-in user may not use. */
const notAllowed = ({ program }: ClientKey, type: "route_not_allowed" | "model_not_allowed"): GatewayError =>
  program === "claude_code"
    ? new GatewayError("invalid_request", ERRORS[type].public)
    : new GatewayError(type);

/** Whether the key's scopes allow a route (null: none) and all of the models that it may call. */
export const allowsDestination = (
  key: ClientKey,
  { route, targets }: { route: Route | null; targets: readonly { model: string | null }[] },
): boolean =>
  allowsRoute(key, route?.name ?? null) &&
  allowsModels(
    key,
    targets.map(({ model }) => model),
  );

/** The routes that a key may use and that have an enabled provider, sorted by name. */
export const usableRoutes = (directory: Directory, key: ClientKey): Route[] =>
  [...directory.routes.values()]
    .filter((route) => route.enabled && isUsable(directory, key, route))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

function isUsable(directory: Directory, key: ClientKey, route: Route): boolean {
  const served = knownTargets(directory, route).filter(({ provider }) => provider.enabled);
  const models = served.map(({ model }) => model);
  return served.length > 0 && allowsRoute(key, route.name) && allowsModels(key, models);
}

/** Whether the key's scopes allow a route, whether or not a provider currently serves it. */
export const inScope = (directory: Directory, key: ClientKey, route: Route): boolean =>
  allowsRoute(key, route.name) &&
  allowsModels(
    key,
    switchedOn(knownTargets(directory, route)).map(({ model }) => model),
  );

export const allowsRoute = ({ scopes }: ClientKey, name: string | null): boolean =>
  scopes.routes === undefined || (name !== null && scopes.routes.includes(name));

/** A list of models never allows a call that names no model. */
const allowsModels = ({ scopes }: ClientKey, models: readonly (string | null)[]): boolean => {
  const { models: allowed } = scopes;
  return allowed === undefined || models.every((model) => model !== null && allowed.includes(model));
};

const mayCallModels = ({ scopes }: ClientKey): boolean =>
  scopes.routes?.length !== 0 && scopes.models?.length !== 0;

/** For what serves calls of models. @throws GatewayError route_not_allowed for a key that may make none. */
export function requireModelScope(key: ClientKey): void {
  if (!mayCallModels(key)) throw new GatewayError("route_not_allowed");
}

/** Refuses usage from keys that cannot cause it, such as those for reports. @throws GatewayError route_not_allowed */
export function requireMetricsScope(key: ClientKey): void {
  if (mayCallModels(key)) return;
  throw new GatewayError("route_not_allowed", "This key may not call models, so it may not report usage.");
}

/** The same for tool calls, which a key with a list of tools may report, too. @throws GatewayError route_not_allowed */
export function requireHooksScope(key: ClientKey): void {
  if (mayCallModels(key) || (key.scopes.mcp?.length ?? 0) > 0) return;
  throw new GatewayError(
    "route_not_allowed",
    "This key may call neither models nor tools, so it may not report tool calls.",
  );
}
