import { answerInFull } from "../batch/answers.ts";
import { withItems } from "../batch/own-items.ts";
import type { Provider } from "../directory.ts";
import { refuse } from "../errors.ts";
import { type Caller, keyed } from "../plugins/client-key.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { upstreamUrl, vendorUrl } from "../providers/endpoint.ts";
import { requirePassThrough, requireVendorPath } from "../routing/pass-through.ts";
import { SURFACE_NAMES, type SurfaceName, surfaceFacts } from "../surface-facts.ts";
import { type SurfaceDeps, serve } from "./model-surface.ts";

/** `/providers/{name}/…`: a vendor's own addresses, with the provider's credential, recorded as every call. */
export function passThrough(deps: SurfaceDeps) {
  const app = keyed(deps, "pass-through");
  const answer = (it: Asked) => passed(deps, it);
  // Each by its name: the console's own address takes every other `GET`.
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
    const options = { clientKey: true, parse: "none", detail: { hide: true } } as const;
    app.route(method, "/providers/:name/*", answer, options);
  }
  return app;
}

type Asked = { request: Request; caller: Caller; params: { name?: string } };

async function passed(deps: SurfaceDeps, { request, caller, params: { name = "" } }: Asked) {
  if (request.headers.get("upgrade")?.toLowerCase() === "websocket") {
    const sentence =
      "WebSockets are not passed through. Responses have one at `/v1/responses`, realtime at `/v1/realtime`.";
    refuse(sentence);
  }
  const { pathname, searchParams } = new URL(request.url);
  const path = pathname.slice(pathname.indexOf("/", "/providers/".length));
  const provider = requirePassThrough(deps.directory.current(), caller.key, { name, path });
  const surface = surfaceAt(provider, path);
  const [, model, stream] = (PROVIDERS[provider.kind].auth === "aws" && OF_BEDROCK.exec(path)) || [];
  const own = isCohere(provider, path) ? "cohere" : "vendor";
  const wire = surface ? surfaceFacts(surface).wire : model ? "bedrock" : own;
  const ids = [...requireVendorPath(path), ...searchParams.values()];
  const vendor = {
    method: request.method,
    provider,
    path,
    wire,
    ids,
    empty: request.body === null,
    ...(model && { streams: stream !== undefined }),
  } as const;
  const named = model ? { named: { model: decodeURIComponent(model) } } : {};
  const answer = await serve(deps, { surface: surface ?? "pass_through", caller, request, vendor, ...named });
  return request.method === "GET" && isJson(answer)
    ? await withoutForeign(deps, caller.key.id, answer)
    : answer;
}

const isJson = ({ ok, headers }: Response): boolean =>
  ok && /^application\/json\b/i.test(headers.get("content-type") ?? "");

/** The account is shared: what other keys made is in none of its lists. */
async function withoutForeign({ refersToForeign }: SurfaceDeps, keyId: string, answer: Response) {
  const bytes = await answerInFull(answer);
  const isForeign = (ids: string[]) => refersToForeign(keyId, { kept: ids, items: [], files: ids });
  const ids: string[] = [];
  await withItems(bytes, (id) => ids.push(id) > 0);
  const hasForeign = ids.length > 0 && (await isForeign(ids));
  const own = hasForeign ? await withItems(bytes, async (id) => !(await isForeign([id]))) : bytes;
  return new Response(own, { status: answer.status, headers: answer.headers });
}

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

/** Bedrock's own formats, with the model in the path. */
const OF_BEDROCK = /^\/model\/([^/]+)\/(?:invoke|converse)(-with-response-stream|-stream)?$/;

/** Its own formats: what it bills is in `billed_units`. */
const isCohere = ({ kind }: Provider, path: string): boolean =>
  kind === "cohere" && /^\/v\d\/(?:chat|embed|classify|summarize|generate)$/.test(path);
