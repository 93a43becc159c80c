import { Elysia } from "elysia";
import type { Directory, Route } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { type CallerCheck, clientKey } from "../plugins/client-key.ts";
import { usableRoutes } from "../routing/scope.ts";

const DOCS = { tags: ["Model surfaces"], security: [{ clientKey: [] }] };
const RESPONSES = {
  "200": { description: "OpenAI's form, or with `anthropic-version` Anthropic's." },
  "401": { description: "No valid client key." },
};
const MISSING = { "404": { description: "No route of that name is open to the key." } };

type ModelsDeps = { callers: CallerCheck; directory: { current(): Directory } };

/** Most models on one page of the Anthropic form; the default is that vendor's. */
const PAGE_MAX = 1000;
const PAGE_DEFAULT = 20;

/**
 * `GET /v1/models`: the routes that the calling key may use, each as a model; `GET /v1/models/{id}`: one of them. The
 * header `anthropic-version` selects Anthropic's format (cursors `limit`, `after_id`, `before_id`); the default is
 * OpenAI's.
 */
export const models = (deps: ModelsDeps) =>
  new Elysia({ name: "surface.models" })
    .use(clientKey(deps.callers))
    .get(
      "/v1/models",
      ({ request, caller }) => {
        const routes = usableRoutes(deps.directory.current(), caller.key);
        return asksForAnthropic(request)
          ? anthropicPage(routes, new URL(request.url).searchParams)
          : { object: "list", data: routes.map(openaiModel) };
      },
      {
        clientKey: true,
        detail: { summary: "Usable routes as models", ...DOCS, responses: { ...RESPONSES } },
      },
    )
    .get(
      "/v1/models/:id",
      ({ request, caller, params }) => {
        const routes = usableRoutes(deps.directory.current(), caller.key);
        const route = routes.find(({ name }) => name === params.id);
        // A route outside the key's scope is answered as one that does not exist.
        if (!route) throw new GatewayError("model_not_found");
        return asksForAnthropic(request) ? anthropicModel(route) : openaiModel(route);
      },
      {
        clientKey: true,
        detail: { summary: "One usable route as a model", ...DOCS, responses: { ...RESPONSES, ...MISSING } },
      },
    );

const asksForAnthropic = ({ headers }: Request): boolean => headers.has("anthropic-version");

const openaiModel = (route: Route) => ({
  id: route.name,
  object: "model",
  created: Math.floor(route.createdAtMs / 1000),
  owned_by: route.provider,
  ...announced(route),
});

const anthropicModel = (route: Route) => ({
  type: "model",
  id: route.name,
  display_name: route.name,
  created_at: new Date(route.createdAtMs).toISOString(),
  ...announced(route),
});

/** Lets callers find out beforehand that a route's bodies are captured. */
const announced = ({ bodyCapture }: Route) => (bodyCapture ? { body_capture: true } : {});

function anthropicPage(routes: readonly Route[], query: URLSearchParams) {
  const limit = Number(query.get("limit") ?? PAGE_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX) {
    throw new GatewayError("invalid_request", `limit must be a whole number from 1 to ${PAGE_MAX}.`);
  }
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
