import type { Route } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { SURFACE_NAMES, surfaceFacts } from "../surface-facts.ts";

/** Models on one page; Google's own figures. */
const PAGE_MAX = 1000;
const PAGE_DEFAULT = 50;

/** A route, or a concrete model, which has no surface. */
type Listed = Pick<Route, "name" | "bodyCapture"> & { surface?: Route["surface"] };

/** The methods of Google's that a route serves. */
const methodsOf = (surface: Route["surface"]): string[] =>
  SURFACE_NAMES.flatMap((name) => {
    const { methods, routeSurface } = surfaceFacts(name);
    return methods && routeSurface === surface ? Object.values(methods) : [];
  });

/** A model in Google's form. */
export const googleModel = ({ name, surface = "chat", bodyCapture }: Listed) => ({
  name: `models/${name}`,
  baseModelId: name,
  version: "1",
  displayName: name,
  supportedGenerationMethods: methodsOf(surface),
  ...(bodyCapture ? { bodyCapture: true } : {}),
});

/**
 * A page of models in Google's form (`pageSize`, `pageToken`).
 * @throws GatewayError invalid_request
 */
export function googlePage(routes: readonly Route[], query: URLSearchParams) {
  const size = Number(query.get("pageSize") || PAGE_DEFAULT);
  if (!Number.isInteger(size) || size < 1) {
    throw new GatewayError("invalid_request", "pageSize must be a whole number of 1 or more.");
  }
  const token = query.get("pageToken");
  const start = token ? routes.findIndex(({ name }) => name === token) + 1 : 0;
  if (token && start === 0) throw new GatewayError("invalid_request", "pageToken is not one of this list.");
  const page = routes.slice(start, start + Math.min(size, PAGE_MAX));
  const isLast = start + page.length >= routes.length;
  return { models: page.map(googleModel), ...(isLast ? {} : { nextPageToken: page.at(-1)?.name }) };
}
