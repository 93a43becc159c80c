import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Elysia } from "elysia";
import { VERSION } from "#shared/version.ts";
import { GEMINI_PATHS } from "./gemini.ts";

/** The directory of the viewer's files; the viewer is one package that needs no network. */
const VIEWER = fileURLToPath(new URL(".", import.meta.resolve("swagger-ui-dist/package.json")));

const STYLE = "swagger-ui.css";
const SCRIPT = "swagger-ui-bundle.js";

/** Only this gateway: nothing is loaded from another host, and calls go to the gateway. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The viewer sets styles of elements.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * A separate file, because the policy forbids inline scripts. The last option keeps the viewer from calling a
 * validator. The viewer shows the answer to a tried call only where answers are described, as they all are.
 */
const START = `const at = new URL("json", document.currentScript.src);
fetch(at)
  .then((answer) => answer.json())
  .then((spec) => {
    SwaggerUIBundle({
      dom_id: "#api",
      spec,
      deepLinking: true,
      docExpansion: "none",
      defaultModelsExpandDepth: -1,
      validatorUrl: null,
    });
  });
`;

/** `folder` leads from the page to its files: a browser takes `/openapi` for a file and `/openapi/` for a folder. */
const pageText = (folder: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tallygate API</title>
<link rel="stylesheet" href="${folder}${STYLE}">
</head>
<body>
<div id="api"></div>
<noscript>The page needs JavaScript. What it shows is the document at <a href="${folder}json">openapi/json</a>.</noscript>
<script src="${folder}${SCRIPT}"></script>
<script src="${folder}start.js"></script>
</body>
</html>
`;

/** What is documented at `/openapi/json`, without a page: the plugin's own loads its viewer from another host. */
export const API_DOCUMENT = {
  provider: null,
  specPath: "/openapi/json",
  // Its default leaves out every path with a dot, such as that of the report payload's schema.
  exclude: { staticFile: false },
  documentation: {
    info: {
      title: "Tallygate",
      version: VERSION,
      description: "Usage-metering model gateway with cost per merged pull request.",
    },
    paths: GEMINI_PATHS,
    components: {
      securitySchemes: {
        clientKey: { type: "http", scheme: "bearer", description: "A client key (tg_…)." },
        gatewayKey: {
          type: "apiKey",
          in: "header",
          name: "x-gateway-key",
          description: "A client key (tg_…).",
        },
        adminKey: {
          type: "http",
          scheme: "bearer",
          description:
            "The admin key, or an admin token (tga_…). A session cookie does, too, within its person's role.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "tallygate_session",
          description:
            "A signed-in browser's session; with an https PUBLIC_URL it is `__Host-tallygate_session`.",
        },
        signInLink: {
          type: "apiKey",
          in: "query",
          name: "token",
          description: "A one-time sign-in link's token.",
        },
      },
    },
  },
} as const;

/** `GET /openapi`: the API for people to read and try, without anything from another host. The document is at `/openapi/json`. */
export const apiPage = () =>
  new Elysia({ name: "surface.api-page", prefix: "/openapi", detail: { hide: true } })
    .get("", ({ request }) => {
      const folder = new URL(request.url).pathname.endsWith("/") ? "" : "openapi/";
      return answer(pageText(folder), "text/html; charset=utf-8", "no-cache");
    })
    .get("/start.js", () => answer(START, "text/javascript; charset=utf-8", "no-cache"))
    .get(`/${STYLE}`, () => answer(Bun.file(join(VIEWER, STYLE)), "text/css; charset=utf-8"))
    .get(`/${SCRIPT}`, () => answer(Bun.file(join(VIEWER, SCRIPT)), "text/javascript; charset=utf-8"));

const answer = (body: string | Blob, type: string, cache = "max-age=3600"): Response =>
  new Response(body, {
    headers: {
      "content-type": type,
      "cache-control": cache,
      "content-security-policy": POLICY,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    },
  });
