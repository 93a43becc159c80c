import { openapi } from "@elysiajs/openapi";
import { Elysia } from "elysia";
import { pathsAsSent } from "#shared/paths-as-sent.ts";
import { PRIVATE_ANSWER } from "#shared/private-answers.ts";
import { admin } from "./admin/admin.ts";
import { adminAlerts } from "./admin/alerts.ts";
import { adminDigest } from "./admin/digest.ts";
import { adminForecast } from "./admin/forecast.ts";
import { crossOrigin } from "./plugins/cross-origin.ts";
import { errorAnswers } from "./plugins/error-answers.ts";
import { hostGuard, refusePath } from "./plugins/host-guard.ts";
import { API_DOCUMENT, apiPage } from "./surfaces/api-page.ts";
import { azureObjects } from "./surfaces/azure-objects.ts";
import { batchesSurface, filesSurface, messageBatches } from "./surfaces/batches.ts";
import { bedrock } from "./surfaces/bedrock.ts";
import { classifySurface } from "./surfaces/classify.ts";
import { agentTelemetry, claudeUsage, managedSettingsSurface } from "./surfaces/claude-code.ts";
import { consolePages } from "./surfaces/console.ts";
import { docsSite } from "./surfaces/docs.ts";
import { gemini } from "./surfaces/gemini.ts";
import { health, metrics } from "./surfaces/health.ts";
import { hookEvents } from "./surfaces/hook-events.ts";
import { keptResponses } from "./surfaces/kept-responses.ts";
import { mcp } from "./surfaces/mcp.ts";
import { me } from "./surfaces/me.ts";
import { meDevices } from "./surfaces/me-devices.ts";
import { meKeys } from "./surfaces/me-keys.ts";
import { modelSurfaces } from "./surfaces/model-surface.ts";
import { models } from "./surfaces/models.ts";
import { oauth } from "./surfaces/oauth.ts";
import { otel } from "./surfaces/otel.ts";
import { passThrough } from "./surfaces/pass-through.ts";
import { promptObjects } from "./surfaces/prompt-objects.ts";
import { realtimeSocket } from "./surfaces/realtime-socket.ts";
import { reports } from "./surfaces/reports.ts";
import { responsesSocket } from "./surfaces/responses-socket.ts";
import { scim } from "./surfaces/scim.ts";
import { directoryGroups } from "./surfaces/scim-groups.ts";
import { sessionContextsSurface } from "./surfaces/session-contexts.ts";
import { sessionLinksSurface } from "./surfaces/session-links.ts";
import { signIn } from "./surfaces/sign-in.ts";
import { version } from "./surfaces/version.ts";

/** Seconds of silence after which Bun closes a connection: Bun's maximum. Model calls have their own deadlines. */
const IDLE_TIMEOUT_SECONDS = 255;
/** Bytes of an event on a WebSocket, and of those that its client has yet to read. */
const SOCKET_BYTES_MAX = 64 * 1024 * 1024;
/** Above every surface's own limit, so that the surface's proper 413 comes first. */
const BODY_BYTES_MAX = 1024 * 1024 * 1024;

/** Headers of answers without their own. While stopping, clients get a new connection: a reused one would be cut. */
const answerHeaders = ({ lifecycle }: { lifecycle: { stopping: boolean } }) =>
  new Elysia({ name: "plugin.answer-headers" })
    .onRequest(({ set }) => {
      Object.assign(set.headers, PRIVATE_ANSWER);
      if (lifecycle.stopping) set.headers["connection"] = "close";
    })
    // To add them, the framework would make a second answer and read the body of the first as a stream.
    .onAfterHandle({ as: "global" }, ({ responseValue: answer, set }) => {
      if (!(answer instanceof Response) || set.headers["set-cookie"] !== undefined) return;
      for (const name in set.headers)
        if (!answer.headers.has(name)) answer.headers.set(name, String(set.headers[name]));
      set.headers = {};
    });

/** All addresses, in the order in which the OpenAPI document has them. */
const ADDRESSES = [
  ...[
    consolePages,
    health,
    metrics,
    models,
    gemini,
    bedrock,
    modelSurfaces,
    responsesSocket,
    realtimeSocket,
    passThrough,
    promptObjects,
    keptResponses,
  ],
  ...[filesSurface, batchesSurface, messageBatches, classifySurface, azureObjects],
  ...[sessionLinksSurface, sessionContextsSurface],
  ...[otel, hookEvents, mcp, reports, version],
  // What people, their devices and directories ask about people.
  ...[
    me,
    meKeys,
    meDevices,
    oauth,
    managedSettingsSurface,
    agentTelemetry,
    claudeUsage,
    scim,
    directoryGroups,
    signIn,
  ],
  ...[adminDigest, adminAlerts, adminForecast, admin],
];

type NeededBy<Part> = (Part extends (deps: infer Deps) => unknown ? (it: Deps) => void : never) extends (
  it: infer All,
) => void
  ? All
  : never;

/** What all of them need; first what needs most of the directory, because the first of several types of one function counts. */
export type GatewayAppDeps = Parameters<typeof modelSurfaces>[0] &
  NeededBy<(typeof ADDRESSES)[number]> &
  Parameters<typeof errorAnswers>[0] &
  Parameters<typeof answerHeaders>[0] &
  Parameters<typeof crossOrigin>[0] & {
    /** Hosts that requests may name, in lower case and without a port; null: any. */
    allowedHosts: readonly string[] | null;
  };

/** Everything on the gateway's port. Errors and the host guard come first: Elysia hooks do not apply backwards. */
export function gatewayApp(deps: GatewayAppDeps) {
  const app: Elysia = new Elysia({
    normalize: false,
    websocket: {
      maxPayloadLength: deps.bytesMax.json,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      backpressureLimit: SOCKET_BYTES_MAX,
    },
    serve: {
      routes: pathsAsSent((request) => app.fetch(request), refusePath),
      // Otherwise two gateways on one port would silently share its calls; under the launcher, see listen.ts.
      reusePort: false,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      maxRequestBodySize: BODY_BYTES_MAX,
      development: false,
    },
  });
  // Its type leaves the routes out: those of all surfaces are too deep for the compiler.
  app
    .use(errorAnswers(deps))
    .use(answerHeaders(deps))
    .use(hostGuard(deps.allowedHosts))
    .use(crossOrigin(deps))
    .use(openapi(API_DOCUMENT))
    .use(apiPage())
    .use(docsSite());
  for (const addresses of ADDRESSES) app.use(addresses(deps));
  return app;
}
