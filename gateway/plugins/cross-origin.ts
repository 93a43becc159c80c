import { Elysia } from "elysia";
import type { Directory } from "../directory.ts";

/** Addresses that a client key alone decides. A browser's cookies count on all others, which stay closed to other origins. */
const KEYED =
  /^\/(?:v1beta|v1alpha|upload|providers|openai|model|mcp|hooks|otel|rerank|v2\/rerank|v1\/(?:models|chat|messages|responses|completions|embeddings|moderations|images|audio|realtime|rerank|files|skills|cachedContents|batches|classify|sessions))(?=[/:]|$)/;

/** How long a browser may remember that it may call. */
const MAX_AGE_SECONDS = "600";

/** Lets pages of `cors_origins` call with a client key and without cookies. Costs nothing where none is set. */
export const crossOrigin = ({ directory }: { directory: { current(): Pick<Directory, "settings"> } }) =>
  new Elysia({ name: "plugin.cross-origin" }).onRequest(({ request, set }) => {
    const { cors_origins: origins } = directory.current().settings;
    if (origins.length === 0) return;
    const origin = request.headers.get("origin");
    if (origin === null || !(origins.includes(origin) || origins.includes("*"))) return;
    if (!KEYED.test(new URL(request.url).pathname)) return;
    const headers = { "access-control-allow-origin": origin, vary: "origin" };
    const asked = request.headers.get("access-control-request-method");
    if (request.method === "OPTIONS" && asked !== null) {
      return new Response(null, {
        status: 204,
        headers: {
          ...headers,
          "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
          "access-control-allow-headers": request.headers.get("access-control-request-headers") ?? "",
          "access-control-max-age": MAX_AGE_SECONDS,
        },
      });
    }
    Object.assign(set.headers, headers, { "access-control-expose-headers": "*" });
    return;
  });
