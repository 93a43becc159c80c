import { openapi } from "@elysiajs/openapi";
import { Elysia } from "elysia";
import { pathsAsSent } from "#shared/paths-as-sent.ts";
import { type AdminDeps, admin } from "./admin/admin.ts";
import { type AdminDigestDeps, adminDigest } from "./admin/digest.ts";
import { errorAnswers } from "./plugins/error-answers.ts";
import { hostGuard, refusePath } from "./plugins/host-guard.ts";
import { lastAnswers } from "./plugins/last-answers.ts";
import { agentTelemetry } from "./surfaces/agent-telemetry.ts";
import { API_DOCUMENT, apiPage } from "./surfaces/api-page.ts";
import type { BatchSurfaceDeps } from "./surfaces/batch-surface.ts";
import { batchesSurface, filesSurface, messageBatches } from "./surfaces/batches.ts";
import { type ClassifyDeps, classifySurface } from "./surfaces/classify.ts";
import { type ClaudeUsageDeps, claudeUsage } from "./surfaces/claude-usage.ts";
import { type ConsoleDeps, consolePages } from "./surfaces/console.ts";
import { docsSite } from "./surfaces/docs.ts";
import { gemini } from "./surfaces/gemini.ts";
import { type HealthDeps, health, type MetricsDeps, metrics } from "./surfaces/health.ts";
import { type HookEventsDeps, hookEvents } from "./surfaces/hook-events.ts";
import { type KeptResponsesDeps, keptResponses } from "./surfaces/kept-responses.ts";
import { type ManagedSettingsDeps, managedSettingsSurface } from "./surfaces/managed-settings.ts";
import { type McpDeps, mcp } from "./surfaces/mcp.ts";
import { type MeDeps, me } from "./surfaces/me.ts";
import { type MeDevicesDeps, meDevices } from "./surfaces/me-devices.ts";
import { type MeKeysDeps, meKeys } from "./surfaces/me-keys.ts";
import { modelSurfaces, type SurfaceDeps } from "./surfaces/model-surface.ts";
import { models } from "./surfaces/models.ts";
import { type OAuthDeps, oauth } from "./surfaces/oauth.ts";
import { type OtelDeps, otel } from "./surfaces/otel.ts";
import { type ReportsDeps, reports } from "./surfaces/reports.ts";
import { scim } from "./surfaces/scim.ts";
import { type SessionLinksDeps, sessionLinksSurface } from "./surfaces/session-links.ts";
import { type SignInSurfaceDeps, signIn } from "./surfaces/sign-in.ts";

export type GatewayAppDeps = SurfaceDeps &
  BatchSurfaceDeps &
  KeptResponsesDeps &
  ClassifyDeps &
  HealthDeps &
  MetricsDeps &
  AdminDeps &
  AdminDigestDeps &
  ReportsDeps &
  OtelDeps &
  SessionLinksDeps &
  HookEventsDeps &
  MeDeps &
  MeKeysDeps &
  MeDevicesDeps &
  OAuthDeps &
  ManagedSettingsDeps &
  ClaudeUsageDeps &
  SignInSurfaceDeps &
  ConsoleDeps &
  McpDeps & {
    /** Hosts that requests may name, in lower case and without a port; null: any. */
    allowedHosts: readonly string[] | null;
  };

/** Seconds of silence after which Bun closes a connection: Bun's maximum. Model calls have their own deadlines. */
const IDLE_TIMEOUT_SECONDS = 255;
/** Above every surface's own limit, so that the surface's proper 413 comes first. */
const BODY_BYTES_MAX = 1024 * 1024 * 1024;

/** What people, their devices and directories ask about people. */
const ofPeople = (deps: GatewayAppDeps) =>
  new Elysia({ name: "surfaces.people" })
    .use(me(deps))
    .use(meKeys(deps))
    .use(meDevices(deps))
    .use(oauth(deps))
    .use(managedSettingsSurface(deps))
    .use(agentTelemetry(deps))
    .use(claudeUsage(deps))
    .use(scim(deps))
    .use(signIn(deps));

/** Everything on the gateway's port. Errors and the host guard come first: Elysia hooks do not apply backwards. */
export function gatewayApp(deps: GatewayAppDeps) {
  const app: Elysia = new Elysia({
    normalize: false,
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
    .use(lastAnswers(deps))
    .use(hostGuard(deps.allowedHosts))
    .use(openapi(API_DOCUMENT))
    .use(apiPage())
    .use(docsSite())
    .use(consolePages(deps))
    .use(health(deps))
    .use(metrics(deps))
    .use(models(deps))
    .use(gemini(deps))
    .use(modelSurfaces(deps))
    .use(keptResponses(deps))
    .use(filesSurface(deps))
    .use(batchesSurface(deps))
    .use(messageBatches(deps))
    .use(classifySurface(deps))
    .use(sessionLinksSurface(deps))
    .use(otel(deps))
    .use(hookEvents(deps))
    .use(mcp(deps))
    .use(reports(deps))
    .use(ofPeople(deps))
    .use(adminDigest(deps))
    .use(admin(deps));
  return app;
}
