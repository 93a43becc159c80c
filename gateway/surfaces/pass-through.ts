import type { VendorAddress } from "../call.ts";
import type { Provider } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { keyed } from "../plugins/client-key.ts";
import { upstreamUrl, vendorUrl } from "../providers/endpoint.ts";
import { requirePassThrough } from "../routing/pass-through.ts";
import { SURFACE_NAMES, type SurfaceName, surfaceFacts } from "../surface-facts.ts";
import { type SurfaceDeps, serve } from "./model-surface.ts";
import { ownItemsOnly } from "./own-items.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * `/providers/{name}/…`: a vendor's own addresses, passed on as they are with the provider's credential and recorded as
 * every call is.
 */
export const passThrough = (deps: SurfaceDeps) =>
  keyed(deps, "pass-through").all(
    "/providers/:name/*",
    async ({ request, caller, params }) => {
      if (!METHODS.includes(request.method)) throw new GatewayError("not_found");
      const { pathname, searchParams } = new URL(request.url);
      const path = pathname.slice(pathname.indexOf("/", "/providers/".length));
      const provider = requirePassThrough(deps.directory.current(), caller.key, { name: params.name, path });
      const surface = surfaceAt(provider, path);
      const wire = surface ? surfaceFacts(surface).wire : isCohere(provider, path) ? "cohere" : "vendor";
      const empty = request.body === null;
      const ids = [...idsInPath(path), ...searchParams.values()];
      const vendor: VendorAddress = { method: request.method, provider, path, wire, ids, empty };
      const answer = await serve(deps, { surface: surface ?? "pass_through", caller, request, vendor });
      return request.method === "GET" ? await ownItemsOnly(deps, caller.key.id, answer) : answer;
    },
    { clientKey: true, parse: "none", detail: { hide: true } },
  );

/** The surface that has this very address at the provider: then its usage is read, and bounded, as there. */
function surfaceAt(provider: Provider, path: string): SurfaceName | null {
  const url = vendorUrl(provider, path);
  const isThere = (surface: SurfaceName): boolean => {
    const { upstreamPath, methods, unrecorded } = surfaceFacts(surface);
    if (upstreamPath === "" || methods || unrecorded) return false;
    return upstreamUrl(provider, { surface, model: null, streamed: false }) === url;
  };
  return SURFACE_NAMES.find(isThere) ?? null;
}

/** Its own formats: what it bills is in `billed_units`. */
const isCohere = ({ kind }: Provider, path: string): boolean =>
  kind === "cohere" && /^\/v\d\/(?:chat|embed|classify|summarize|generate)$/.test(path);

/** Each segment, and each pair: Google's names have two. */
const idsInPath = (path: string): string[] =>
  path
    .slice(1)
    .split("/")
    .flatMap((segment, index, all) => (index === 0 ? [segment] : [segment, `${all[index - 1]}/${segment}`]))
    .map(decodeURIComponent);
