import type { ClientKey, Directory, Route } from "../directory.ts";
import { GatewayError, refuse } from "../errors.ts";
import { routingLookups } from "../exchange.ts";
import { type CallerCheck, keyed } from "../plugins/client-key.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import { AUTO } from "../routing/choose.ts";
import { usableRoutes } from "../routing/scope.ts";
import { servedModel } from "../routing/served-model.ts";
import { SURFACE_NAMES, surfaceFacts } from "../surface-facts.ts";
import { documented, NO_CLIENT_KEY } from "./documented.ts";
import { refuseKeyInUrl } from "./gemini.ts";

const ANSWERS = {
  200: "OpenAI's form, with `anthropic-version` Anthropic's, with `x-goog-api-key` Google's.",
  ...NO_CLIENT_KEY,
};
const listed = (summary: string) => documented(summary, { tag: "Model surfaces", answers: ANSWERS });
const MISSING = { 404: "No call of the key with that model would be served." };
const single = (summary: string) =>
  documented(summary, { tag: "Model surfaces", answers: { ...ANSWERS, ...MISSING } });

export type ModelsDeps = { callers: CallerCheck; directory: { current(): Directory }; prices(): PriceBook };

/** Most models on one page of the Anthropic form; the default is that vendor's. */
const PAGE_MAX = 1000;
const PAGE_DEFAULT = 20;

/**
 * `GET /v1/models`: the routes that the calling key may use, each as a model; `GET /v1/models/{id}`: one of them, or any
 * model that a call would be served with. The header `x-goog-api-key` selects Google's format, `anthropic-version`
 * Anthropic's (cursors `limit`, `after_id`, `before_id`); the default is
 * OpenAI's.
 */
export const models = (deps: ModelsDeps) => modelsAt(deps, "/v1").use(googleModels(deps));

/** Those of OpenAI's form, which Azure has below roots of its own. */
export const modelsAt = (deps: ModelsDeps, root: string) =>
  keyed(deps, `models${root}`)
    .onTransform(({ request }) => refuseKeyInUrl(request))
    .get(
      `${root}/models`,
      ({ request, caller }) => {
        const routes = usableRoutes(deps.directory.current(), caller.key);
        const query = new URL(request.url).searchParams;
        if (asksForGoogle(request)) return googlePage(routes, query);
        return asksForAnthropic(request)
          ? anthropicPage(routes, query)
          : { object: "list", data: routes.map(openaiModel) };
      },
      { clientKey: true, detail: listed("Usable routes as models") },
    )
    .get(
      `${root}/models/:id`,
      ({ request, caller, params }) => inForm(request, modelOf(deps, caller.key, params.id)),
      { clientKey: true, detail: single("A usable route or a concrete model") },
    )
    // A name whose slashes are not encoded.
    .get(
      `${root}/models/*`,
      ({ request, caller, params }) => inForm(request, modelOf(deps, caller.key, params["*"])),
      { clientKey: true, detail: { hide: true } },
    );

function inForm(request: Request, model: Model) {
  if (asksForGoogle(request)) return googleModel(model);
  return asksForAnthropic(request) ? anthropicModel(model) : openaiModel(model);
}

/** Google's own address for the same, which its other clients call. */
function googleModels(deps: ModelsDeps) {
  return keyed(deps, "gemini-models")
    .onTransform(({ request }) => refuseKeyInUrl(request))
    .get(
      "/v1beta/models",
      ({ request, caller }) =>
        googlePage(usableRoutes(deps.directory.current(), caller.key), new URL(request.url).searchParams),
      { clientKey: true, detail: listed("Usable routes as Google's models") },
    )
    .get(
      "/v1beta/models/:model",
      ({ caller, params }) => googleModel(modelOf(deps, caller.key, params.model)),
      { clientKey: true, detail: single("One of Google's models") },
    )
    .get("/v1beta/models/*", ({ caller, params }) => googleModel(modelOf(deps, caller.key, params["*"])), {
      clientKey: true,
      detail: { hide: true },
    });
}

/** Google's newer SDKs list models at the same address as OpenAI's. */
const asksForGoogle = ({ headers }: Request): boolean => headers.has("x-goog-api-key");
const asksForAnthropic = ({ headers }: Request): boolean => headers.has("anthropic-version");

/** `createdAtMs` is 0 for a concrete model, as at vendors that do not know it: their clients expect a time. */
type Model = Pick<Route, "name" | "provider" | "createdAtMs" | "bodyCapture"> & {
  surface?: Route["surface"];
};

/** @throws GatewayError model_not_found, also for what is outside the key's scope. */
function modelOf(deps: ModelsDeps, key: ClientKey, name: string): Model {
  const directory = deps.directory.current();
  const usable = usableRoutes(directory, key);
  if (name === AUTO && usable.length > 0)
    return { name, provider: "tallygate", createdAtMs: 0, bodyCapture: usable.some((it) => it.bodyCapture) };
  const route = usable.find((it) => it.name === name);
  if (route) return route;
  const served = servedModel({ directory, key, model: name, knowledge: routingLookups(deps.prices()) });
  if (!served) throw new GatewayError("model_not_found");
  const bodyCapture = served.route?.bodyCapture ?? false;
  return { name, provider: served.provider.name, createdAtMs: 0, bodyCapture };
}

const openaiModel = (model: Model) => ({
  id: model.name,
  object: "model",
  created: Math.floor(model.createdAtMs / 1000),
  owned_by: model.provider,
  ...announced(model),
});

const anthropicModel = (model: Model) => ({
  type: "model",
  id: model.name,
  display_name: model.name,
  created_at: new Date(model.createdAtMs).toISOString(),
  ...announced(model),
});

/** Lets callers find out beforehand that a route's bodies are captured. */
const announced = ({ bodyCapture }: Model) => (bodyCapture ? { body_capture: true } : {});

function anthropicPage(routes: readonly Route[], query: URLSearchParams) {
  const limit = Number(query.get("limit") ?? PAGE_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX)
    refuse(`limit must be a whole number from 1 to ${PAGE_MAX}.`);
  const after = query.get("after_id");
  const before = query.get("before_id");
  const start = after ? routes.findIndex((route) => route.name === after) + 1 : 0;
  const end = before ? routes.findIndex((route) => route.name === before) : routes.length;
  const span = routes.slice(start, end < 0 ? routes.length : end);
  const page = before ? span.slice(-limit) : span.slice(0, limit);
  return {
    data: page.map(anthropicModel),
    has_more: page.length < span.length,
    first_id: page[0]?.name ?? null,
    last_id: page.at(-1)?.name ?? null,
  };
}

/** Models on one page; Google's own figures. */
const GOOGLE_PAGE_MAX = 1000;
const GOOGLE_PAGE_DEFAULT = 50;

/** A route, or a concrete model, which has no surface. */
type Listed = Pick<Route, "name" | "bodyCapture"> & { surface?: Route["surface"] };

/** The methods of Google's that a route serves. */
const methodsOf = (surface: Route["surface"]): string[] =>
  SURFACE_NAMES.flatMap((name) => {
    const { methods, routeSurface } = surfaceFacts(name);
    return methods && routeSurface === surface ? Object.values(methods) : [];
  });

/** A model in Google's form. */
const googleModel = ({ name, surface = "chat", bodyCapture }: Listed) => ({
  name: `models/${name}`,
  baseModelId: name,
  version: "1",
  displayName: name,
  supportedGenerationMethods: methodsOf(surface),
  ...(bodyCapture ? { bodyCapture: true } : {}),
});

/** A page of models in Google's form (`pageSize`, `pageToken`). @throws GatewayError invalid_request */
function googlePage(routes: readonly Route[], query: URLSearchParams) {
  const size = Number(query.get("pageSize") || GOOGLE_PAGE_DEFAULT);
  if (!Number.isInteger(size) || size < 1) refuse("pageSize must be a whole number of 1 or more.");
  const token = query.get("pageToken");
  const start = token ? routes.findIndex(({ name }) => name === token) + 1 : 0;
  if (token && start === 0) refuse("pageToken is not one of this list.");
  const page = routes.slice(start, start + Math.min(size, GOOGLE_PAGE_MAX));
  const isLast = start + page.length >= routes.length;
  return { models: page.map(googleModel), ...(isLast ? {} : { nextPageToken: page.at(-1)?.name }) };
}
