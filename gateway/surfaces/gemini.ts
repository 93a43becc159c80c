import { Elysia } from "elysia";
import { GatewayError } from "../errors.ts";
import { clientKey } from "../plugins/client-key.ts";
import { SURFACES, type SurfaceName, surfaceFacts } from "../surface-facts.ts";
import { arrayAnswer } from "./gemini-array.ts";
import { type SurfaceDeps, serve } from "./model-surface.ts";

type Method = { surface: SurfaceName; streamed: boolean };

/** By the name after the colon. */
const METHODS: ReadonlyMap<string, Method> = new Map(
  (Object.keys(SURFACES) as SurfaceName[]).flatMap((surface): [string, Method][] => {
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
  new Elysia({ name: `surface.${prefix}` })
    .onTransform(({ request }) => refuseKeyInUrl(request))
    .use(clientKey(deps.callers))
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
        // Documented by method (gemini-docs.ts).
        detail: { hide: true },
      },
    );

/**
 * Addresses are kept in logs and histories, so a key in one is refused even where it would be valid.
 * @throws GatewayError invalid_request
 */
export function refuseKeyInUrl({ url }: Request): void {
  const at = url.indexOf("?");
  if (at === -1 || !new URLSearchParams(url.slice(at + 1)).has("key")) return;
  throw new GatewayError(
    "invalid_request",
    "A key does not belong in the address (`?key=`), where logs keep it. Send it in the header x-goog-api-key.",
  );
}

type Named = Method & { model: string; framing: "events" | "array" };

/** @throws GatewayError not_found, invalid_request */
function read({ pathname, searchParams }: URL, prefix: string): Named {
  const [, name = "", called = ""] = /^(.+):([^:]+)$/.exec(decoded(pathname.slice(prefix.length))) ?? [];
  const method = METHODS.get(called);
  if (!method) throw new GatewayError("not_found");
  const alt = searchParams.get("alt") ?? searchParams.get("$alt") ?? "json";
  if (alt !== "sse" && alt !== "json") {
    throw new GatewayError("invalid_request", "`alt` must be `sse` or `json`.");
  }
  return { ...method, model: name, framing: alt === "sse" ? "events" : "array" };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new GatewayError("not_found");
  }
}
