import { Elysia } from "elysia";
import { GatewayError, orNotFound, refuse } from "../errors.ts";
import { isEventType } from "../http/content-type.ts";
import { sseMapped } from "../metering/sse.ts";
import { keyed } from "../plugins/client-key.ts";
import { SURFACE_NAMES, type SurfaceName, surfaceFacts } from "../surface-facts.ts";
import { modelDocs } from "./model-docs.ts";
import { type SurfaceDeps, serve } from "./model-surface.ts";

type Method = { surface: SurfaceName; streamed: boolean };

/** By the name after the colon. */
const METHODS: ReadonlyMap<string, Method> = new Map(
  SURFACE_NAMES.flatMap((surface): [string, Method][] => {
    const { methods } = surfaceFacts(surface);
    if (!methods) return [];
    const whole: [string, Method] = [methods.whole, { surface, streamed: false }];
    return methods.streamed === undefined
      ? [whole]
      : [whole, [methods.streamed, { surface, streamed: true }]];
  }),
);

/**
 * `POST /v1beta/models/{model}:{method}`: Google's own format. One address, because the router has no pattern for a name
 * before a colon, and a model's name may have slashes and colons of its own.
 * Google's SDKs and Gemini CLI differ in the version that they call.
 */
export function gemini(deps: SurfaceDeps) {
  const all = new Elysia({ name: "surface.gemini" });
  // Not chained: the routes' types would only make the app's type too deep.
  for (const version of ["v1beta", "v1", "v1alpha"]) all.use(at(deps, `/${version}/models/`));
  return all;
}

const at = (deps: SurfaceDeps, prefix: string) =>
  keyed(deps, prefix)
    .onTransform(({ request }) => refuseKeyInUrl(request))
    .post(
      `${prefix}*`,
      async ({ request, caller }) => {
        const { model, surface, streamed, framing } = read(new URL(request.url), prefix);
        const answer = await serve(deps, { surface, caller, request, named: { model, streamed } });
        return streamed && framing === "array" ? arrayAnswer(answer) : answer;
      },
      {
        clientKey: true,
        // The body is forwarded unchanged, so the framework must not read it.
        parse: "none",
        // Documented by method (`GEMINI_PATHS`).
        detail: { hide: true },
      },
    );

/** Addresses end up in logs, so a key in one is refused, even a valid one. @throws GatewayError invalid_request */
export function refuseKeyInUrl({ url }: Request): void {
  const at = url.indexOf("?");
  if (at === -1 || !new URLSearchParams(url.slice(at + 1)).has("key")) return;
  refuse(
    "A key does not belong in the address (`?key=`), where logs keep it. Send it in the header x-goog-api-key.",
  );
}

type Named = Method & { model: string; framing: "events" | "array" };

/** @throws GatewayError not_found, invalid_request */
function read({ pathname, searchParams }: URL, prefix: string): Named {
  const [, name = "", called = ""] = /^(.+):([^:]+)$/.exec(decoded(pathname.slice(prefix.length))) ?? [];
  const method = orNotFound(METHODS.get(called));
  const alt = searchParams.get("alt") ?? searchParams.get("$alt") ?? "json";
  if (alt !== "sse" && alt !== "json") refuse("`alt` must be `sse` or `json`.");
  return { ...method, model: name, framing: alt === "sse" ? "events" : "array" };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new GatewayError("not_found");
  }
}

const encoder = new TextEncoder();

/**
 * A stream of events as the JSON array that Google streams to clients without `alt=sse`. Any other answer, such as an
 * error, stays as it is.
 */
function arrayAnswer(answer: Response): Response {
  if (!answer.body || !isEventType(answer.headers.get("content-type"))) return answer;
  const headers = new Headers(answer.headers);
  headers.set("content-type", "application/json; charset=UTF-8");
  return new Response(answer.body.pipeThrough(asArray()), { status: answer.status, headers });
}

function asArray(): TransformStream<Uint8Array, Uint8Array> {
  let begun = false;
  const listed = (data: Uint8Array) => {
    const before = encoder.encode(begun ? ",\r\n" : "[");
    begun = true;
    return [before, new Uint8Array(data)];
  };
  return sseMapped(listed, () => [encoder.encode(begun ? "]" : "[]")]);
}

const MODEL = { name: "model", in: "path", required: true, schema: { type: "string" as const } };
const ALT = {
  name: "alt",
  in: "query",
  required: false,
  description: "`sse` for events; otherwise one JSON array is streamed.",
  schema: { type: "string" as const, enum: ["sse", "json"] },
};

/** The documented addresses of Gemini's format: one route serves all of them, so they are described here. */
export const GEMINI_PATHS = Object.fromEntries(
  SURFACE_NAMES.filter((surface) => surfaceFacts(surface).methods).flatMap((surface) => {
    const { path, aliases = [] } = surfaceFacts(surface);
    return [path, ...aliases].map((address) => [address, { post: docsOf(surface, address) }]);
  }),
);

function docsOf(surface: SurfaceName, address: string) {
  const { summary, parameters = [], ...docs } = modelDocs(surface);
  const streams = address.includes(":stream");
  return {
    summary: streams ? `${summary}, streamed` : summary,
    ...docs,
    operationId: `gemini${address.slice(address.lastIndexOf(":") + 1)}`,
    parameters: [MODEL, ...(streams ? [ALT] : []), ...parameters],
  };
}
